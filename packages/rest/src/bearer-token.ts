import { RestError } from './rest-error.ts'

/** What follows `Bearer`, even what no token looks like: it is shown as one. `undefined` for none. */
const bearerTokenIn = (authorization: unknown): string | undefined =>
  typeof authorization === 'string' ? /^ *bearer +(\S.*?) *$/i.exec(authorization)?.[1] : undefined

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
  const inParameter = textOf(parameters.access_token)
  if (inHeader !== undefined && inParameter !== undefined) {
    throw new RestError(400, {
      error: 'invalid_request',
      error_description: 'Both Authorization header and payload includes access token.',
    })
  }
  return inParameter ?? inHeader ?? textOf(parameters.bearer_token)
}

/** Blank is none. A number, as JSON may have it, is its digits. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
