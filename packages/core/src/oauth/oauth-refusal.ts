/** `too_many_tokens` is our own. @see RFC 6749 4.1.2.1, 5.2 and 8.5; RFC 7009 2.2.1 */
export type OAuthRefusalCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'too_many_tokens'

/** Why an application does not get what it asks for; each protocol puts it into its own words. */
export class OAuthRefusal extends Error {
  override readonly name = 'OAuthRefusal'
  readonly code: OAuthRefusalCode
  /** The parameter (in camelCase) that is absent, of an `invalid_request`. */
  readonly missing: string | undefined

  constructor(code: OAuthRefusalCode, missing?: string) {
    super(code)
    this.code = code
    this.missing = missing
  }
}
