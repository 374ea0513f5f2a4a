/** The error codes of OAuth, and our own `too_many_tokens`. @see RFC 6749 4.1.2.1, 5.2 and 8.5; RFC 7009 2.2.1; RFC 8628 3.5 */
export type OAuthRefusalCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'too_many_tokens'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'

/** The rejection of a request by an application. Each adapter words it in its protocol. */
export class OAuthRefusal extends Error {
  override readonly name = 'OAuthRefusal'
  readonly code: OAuthRefusalCode
  /** The missing parameter, in camelCase, if that is the reason for `invalid_request`. */
  readonly missing: string | undefined

  constructor(code: OAuthRefusalCode, missing?: string) {
    super(code)
    this.code = code
    this.missing = missing
  }
}
