/**
 * Where a credential was sent. URLs are often logged on their way, so only some tokens may be sent in the query (T-9).
 */
export type CredentialPlace = 'header' | 'query'

/** The credential of a request, not yet verified. */
export type Credential =
  | { readonly kind: 'bearer'; readonly value: string; readonly from: CredentialPlace }
  | { readonly kind: 'none' }
  /** There are two credentials, or the credential has another scheme, is too long or is empty. */
  | { readonly kind: 'malformed' }
