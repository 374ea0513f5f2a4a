import { type CoreSettings, csrfTokenOf, isCsrfToken } from '@penstock/core'
import type { Incoming } from '@penstock/http'

/** As sessions and visitors have them. */
const secretForm = /^[0-9a-f]{64}$/

const nameOf = ({ serviceName }: CoreSettings): string => `_${serviceName}_session`

/** What the browser's cookie holds, a session or not; `undefined` for none, or for what none of ours could be. */
export function sessionSecretIn({ raw }: Pick<Incoming, 'raw'>, settings: CoreSettings): string | undefined {
  const start = `${nameOf(settings)}=`
  const pairs = (raw.headers.cookie ?? '').split(';').map((pair) => pair.trim())
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

/**
 * Whether a request comes from a page of ours: it carries the token of its own cookie, in a header or a field of the form,
 * and the browser does not say that another site has sent it. The latter stops who can plant cookies from a neighbouring
 * host name.
 */
export function isFromOurPage({ raw }: Pick<Incoming, 'raw'>, secret: string | undefined, field: unknown): boolean {
  const site = raw.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  const token = raw.headers['x-csrf-token'] ?? field
  return secret !== undefined && typeof token === 'string' && isCsrfToken(secret, token)
}

/** For a form. */
export const csrfFieldFor = (secret: string): { name: string; value: string } => ({
  name: 'csrf_token',
  value: csrfTokenOf(secret),
})
