import { type CoreSettings, csrfTokenOf, isFromOurPage } from '@penstock/core'
import { type Incoming, csrfProofIn, sessionCookieName } from '@penstock/http'

/** Until the browser ends; when the session itself ends is ours to say. `undefined` takes the cookie away. */
export function setSessionCookie(secret: string | undefined, settings: CoreSettings): Record<string, string> {
  const { protocol, pathname } = new URL(settings.externalUrl)
  const attributes = [
    `${sessionCookieName(settings.serviceName)}=${secret ?? ''}`,
    `Path=${pathname}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(protocol === 'https:' ? ['Secure'] : []),
    ...(secret === undefined ? ['Max-Age=0'] : []),
  ]
  return { 'Set-Cookie': attributes.join('; ') }
}

/** Of a form that anyone may send; none of them takes a file. */
export const SMALL_FORM_LIMITS = { limitBytes: 64 * 1024, fileLimitBytes: 0 }

/** Whether a form has been sent by a page of ours, which may carry the proof in a field instead. */
export function isOurForm(
  { raw }: Pick<Incoming, 'raw'>,
  secret: string | undefined,
  field: string | undefined,
): boolean {
  const { csrfToken = field, fetchSite } = csrfProofIn(raw.headers)
  return secret !== undefined && isFromOurPage(secret, { csrfToken, fetchSite })
}

/** For a form. */
export const csrfFieldFor = (secret: string): { name: string; value: string } => ({
  name: 'csrf_token',
  value: csrfTokenOf(secret),
})
