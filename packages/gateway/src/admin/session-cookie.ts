import type { IncomingMessage } from 'node:http'
import { cookiesIn, headerIn } from '@penstock/http'

export const SESSION_COOKIE = 'penstock_session'

/** The address of the listener that browsers use, if it is configured. */
export interface PublicAddress {
  readonly externalUrl: string | undefined
}

/**
 * Returns whether the client uses HTTPS: by the configured address, or by the first proxy, which talks to the client. A client
 * that forges the header of the proxy changes only its own answers.
 */
export function isHttps({ headers }: Pick<IncomingMessage, 'headers'>, { externalUrl = '' }: PublicAddress): boolean {
  const [reported = ''] = (headerIn(headers, 'x-forwarded-proto') ?? '').split(',')
  return /^https:/i.test(externalUrl) || reported.trim().toLowerCase() === 'https'
}

/** Over HTTPS, the prefix makes browsers refuse the cookie from other hosts of the domain and from HTTP. */
const cookieName = (request: IncomingMessage, address: PublicAddress): string =>
  isHttps(request, address) ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE

/** Returns the header that sets the session cookie until the browser is closed, or deletes it if `secret` is `undefined`. */
export function setSessionCookie(
  request: IncomingMessage,
  secret: string | undefined,
  address: PublicAddress,
): { 'Set-Cookie': string } {
  const attributes = [
    `${cookieName(request, address)}=${secret ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    ...(isHttps(request, address) ? ['Secure'] : []),
    ...(secret === undefined ? ['Max-Age=0'] : []),
  ]
  return { 'Set-Cookie': attributes.join('; ') }
}

/**
 * Returns the secret in the session cookie. If the browser sends two cookies of the name, a page on another port or path has
 * added one, so neither is used.
 */
export function sessionSecretOf(request: IncomingMessage, address: PublicAddress): string | undefined {
  const values = cookiesIn(request.headers, cookieName(request, address))
  return values.length === 1 ? values[0] : undefined
}
