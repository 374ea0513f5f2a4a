/** What the headers of a request present as credential, before anyone has judged it. */
export type Credential =
  | { readonly kind: 'bearer'; readonly value: string }
  | { readonly kind: 'none' }
  /** Two of them, another scheme, too long, nothing after the scheme. */
  | { readonly kind: 'malformed' }
