import { MalformedForm } from './malformed-form.ts'

/** As Node has them: names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** What follows `Bearer`, even what no token looks like: it is shown as one. `undefined` for none. */
export const bearerTokenIn = (authorization: unknown): string | undefined =>
  typeof authorization === 'string' ? /^ *bearer +(\S.*?) *$/i.exec(authorization)?.[1] : undefined

/** A parameter's text. Blank is none. A number, as JSON may have it, is its digits. */
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

/** As sessions and visitors have them. */
const secretForm = /^[0-9a-f]{64}$/

export const sessionCookieName = (serviceName: string): string => `_${serviceName}_session`

/** What the browser's cookie holds, a session or not; `undefined` for none, or for what none of ours could be. */
export function sessionSecretIn(headers: Headers, serviceName: string): string | undefined {
  const start = `${sessionCookieName(serviceName)}=`
  const pairs = (headerIn(headers, 'cookie') ?? '').split(';').map((pair) => pair.trim())
  const value = pairs.find((pair) => pair.startsWith(start))?.slice(start.length)
  return value !== undefined && secretForm.test(value) ? value : undefined
}

/** What shows that a request comes from a page of ours. */
export const csrfProofIn = (headers: Headers) => ({
  csrfToken: headerIn(headers, 'x-csrf-token'),
  fetchSite: headerIn(headers, 'sec-fetch-site'),
})

export function headerIn(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
