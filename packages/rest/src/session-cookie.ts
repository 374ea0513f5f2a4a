import { type CoreSettings, csrfTokenOf, isFromOurPage, type PageProof } from '@penstock/core'
import type { Incoming } from '@penstock/http'

/** As sessions and visitors have them. */
const secretForm = /^[0-9a-f]{64}$/

const nameOf = ({ serviceName }: CoreSettings): string => `_${serviceName}_session`

/** As Node has them: names in lower case. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

const headerIn = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** What the browser's cookie holds, a session or not; `undefined` for none, or for what none of ours could be. */
export function sessionSecretIn(headers: Headers, settings: CoreSettings): string | undefined {
  const start = `${nameOf(settings)}=`
  const pairs = (headerIn(headers, 'cookie') ?? '').split(';').map((pair) => pair.trim())
  const value = pairs.find((pair) => pair.startsWith(start))?.slice(start.length)
  return value !== undefined && secretForm.test(value) ? value : undefined
}

/** Until the browser ends; when the session itself ends is ours to say. `undefined` takes the cookie away. */
export function setSessionCookie(secret: string | undefined, settings: CoreSettings): Record<string, string> {
  const { protocol, pathname } = new URL(settings.externalUrl)
  const attributes = [
    `${nameOf(settings)}=${secret ?? ''}`,
    `Path=${pathname}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(protocol === 'https:' ? ['Secure'] : []),
    ...(secret === undefined ? ['Max-Age=0'] : []),
  ]
  return { 'Set-Cookie': attributes.join('; ') }
}

/** Of a form that anyone may send; none of them takes a file. */
export const SMALL_FORM = { limitBytes: 64 * 1024, fileLimitBytes: 0 }

export const pageProofIn = (headers: Headers): PageProof => ({
  csrfToken: headerIn(headers, 'x-csrf-token'),
  fetchSite: headerIn(headers, 'sec-fetch-site'),
})

/** Whether a form has been sent by a page of ours, which may carry the proof in a field instead. */
export function isOurForm(
  { raw }: Pick<Incoming, 'raw'>,
  secret: string | undefined,
  field: string | undefined,
): boolean {
  const { csrfToken = field, fetchSite } = pageProofIn(raw.headers)
  return secret !== undefined && isFromOurPage(secret, { csrfToken, fetchSite })
}

/** For a form. */
export const csrfFieldFor = (secret: string): { name: string; value: string } => ({
  name: 'csrf_token',
  value: csrfTokenOf(secret),
})
