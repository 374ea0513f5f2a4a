import { type CoreSettings, csrfTokenOf, isFromOurPage } from '@penstock/core'
import { csrfProofIn, type Incoming, sessionCookieName } from '@penstock/http'

/**
 * Returns the header that sets the session cookie, or deletes it if `secret` is `undefined`. The cookie lasts until the browser
 * is closed; the server decides when the session ends.
 */
export function setSessionCookie(secret: string | undefined, settings: CoreSettings): Record<string, string> {
  const attributes = [
    `${sessionCookieName(settings.serviceName)}=${secret ?? ''}`,
    ...cookieAttributes(settings),
    ...(secret === undefined ? ['Max-Age=0'] : []),
  ]
  return { 'Set-Cookie': attributes.join('; ') }
}

/** Returns the attributes of a cookie that neither scripts nor forms of other sites can use. */
export function cookieAttributes({ externalUrl }: CoreSettings): string[] {
  const { protocol, pathname } = new URL(externalUrl)
  return [`Path=${pathname}`, 'HttpOnly', 'SameSite=Lax', ...(protocol === 'https:' ? ['Secure'] : [])]
}

/** The body limits of forms that anonymous users may send. */
export const SMALL_FORM_LIMITS = { limitBytes: 64 * 1024, fileLimitBytes: 0 }

/**
 * Returns whether a page of this service has sent a form.
 *
 * @param field the CSRF token in the form, which is used if the request has no header with it
 */
export function isOurForm(
  { raw }: Pick<Incoming, 'raw'>,
  secret: string | undefined,
  field: string | undefined,
): boolean {
  const { csrfToken = field, fetchSite } = csrfProofIn(raw.headers)
  return secret !== undefined && isFromOurPage(secret, { csrfToken, fetchSite })
}

/** Returns the hidden form field with the CSRF token of a session or visitor. */
export const csrfFieldFor = (secret: string): { name: string; value: string } => ({
  name: 'csrf_token',
  value: csrfTokenOf(secret),
})
