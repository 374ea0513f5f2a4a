import { bearerTokenIn, singleParameter } from '@penstock/http'
import { RestError } from '../routing/rest-error.ts'

/**
 * Returns the OAuth token of a request, from the first place that has one: the parameter `access_token`, the header, or the
 * parameter `bearer_token`.
 *
 * @throws RestError 400 if both the header and the parameter `access_token` have a token
 * @see RFC 6750, section 2
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
