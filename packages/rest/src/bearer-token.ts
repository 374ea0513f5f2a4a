import { bearerTokenIn, singleParameter } from '@penstock/http'
import { RestError } from './rest-error.ts'

/**
 * An OAuth token, in the first place in which there is one.
 *
 * @throws RestError 400 for one in the header and one as parameter
 * @see RFC 6750 2; spec/rest-part2-details.md 2.1
 */
export function oauthTokenIn(
  authorization: unknown,
  parameters: Readonly<Record<string, unknown>>,
): string | undefined {
  const inHeader = bearerTokenIn(authorization)
  const inParameter = singleParameter(parameters, 'access_token')
  if (inHeader !== undefined && inParameter !== undefined) {
    throw new RestError(400, {
      error: 'invalid_request',
      error_description: 'Both Authorization header and payload includes access token.',
    })
  }
  return inParameter ?? inHeader ?? singleParameter(parameters, 'bearer_token')
}
