import type { IncomingMessage } from 'node:http'
import { cookiesIn } from '@penstock/http'

export const SESSION_COOKIE = 'penstock_session'

/** Returns whether the client uses HTTPS. A client that forges the header of the proxy changes only its own answers. */
export const isHttps = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['x-forwarded-proto'] === 'https'

/** Over HTTPS, the prefix makes browsers refuse the cookie from other hosts of the domain and from HTTP. */
const cookieName = (request: IncomingMessage): string =>
  isHttps(request) ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE

/** Returns the header that sets the session cookie until the browser is closed, or deletes it if `secret` is `undefined`. */
export function setSessionCookie(request: IncomingMessage, secret: string | undefined): { 'Set-Cookie': string } {
  const attributes = [
    `${cookieName(request)}=${secret ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isHttps(request) ? ['Secure'] : []),
    ...(secret === undefined ? ['Max-Age=0'] : []),
  ]
  return { 'Set-Cookie': attributes.join('; ') }
}

/**
 * Returns the secret in the session cookie. If the browser sends two cookies of the name, a page on another port or path has
 * added one, so neither is used.
 */
export function sessionSecretOf(request: IncomingMessage): string | undefined {
  const values = cookiesIn(request.headers, cookieName(request))
  return values.length === 1 ? values[0] : undefined
}
