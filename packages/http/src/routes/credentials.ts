import { MalformedForm } from '../bodies/malformed-form.ts'

/** The headers of a request, with names in lower case, as Node provides them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Returns the text after `Bearer`, or `undefined` if the header has another form. The text is returned even if it cannot
 * be a token, so that the caller can reject it as one.
 */
export const bearerTokenIn = (authorization: unknown): string | undefined =>
  typeof authorization === 'string' ? /^ *bearer +(\S.*?) *$/i.exec(authorization)?.[1] : undefined

/** Returns the trimmed text of a parameter, or `undefined` if it is blank. A JSON number is converted to text. */
export function parameterText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/**
 * Returns the text of a parameter that must have one value; `undefined` if it is missing or blank.
 *
 * @throws MalformedForm for a list, an object or a boolean, so that a credential is never ignored
 */
export function singleParameter(parameters: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' && typeof value !== 'number') throw new MalformedForm(`${name} must be one text`)
  return parameterText(value)
}

/** The format of the secrets of sessions and visitors. */
const secretFormat = /^[0-9a-f]{64}$/

export const sessionCookieName = (serviceName: string): string => `_${serviceName}_session`

/**
 * Returns the secret in the session cookie, or `undefined` if there is none or it has the wrong format. The session may
 * not exist.
 *
 * If the browser sends two cookies of the name, a page on another path, port or host name has added one, so neither is used.
 */
export function sessionSecretIn(headers: Headers, serviceName: string): string | undefined {
  const [value, ...further] = cookiesIn(headers, sessionCookieName(serviceName))
  return further.length === 0 && value !== undefined && secretFormat.test(value) ? value : undefined
}

/** Returns the first cookie with a name. */
export const cookieIn = (headers: Headers, name: string): string | undefined => cookiesIn(headers, name)[0]

/** Returns every cookie with a name: pages on other paths, ports and host names can add further ones. */
export function cookiesIn(headers: Headers, name: string): string[] {
  const start = `${name}=`
  const pairs = (headerIn(headers, 'cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length))
}

/** Returns the headers that can prove that one of this service's own pages sent the request. */
export const csrfProofIn = (headers: Headers) => ({
  csrfToken: headerIn(headers, 'x-csrf-token'),
  fetchSite: headerIn(headers, 'sec-fetch-site'),
})

export function headerIn(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
