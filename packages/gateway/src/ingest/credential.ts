import type { CredentialSource } from '../gateway-config.ts'

/** A query is written down in many places on its way, so only some tokens may stand there (T-9). */
export type CredentialPlace = 'header' | 'query'

/** What the headers of a request present as credential, before anyone has judged it. */
export type Credential =
  | { readonly kind: 'bearer'; readonly value: string; readonly from: CredentialPlace }
  | { readonly kind: 'none' }
  /** Two of them, another scheme, too long, nothing after the scheme. */
  | { readonly kind: 'malformed' }

export const noCredential: Credential = { kind: 'none' }
export const malformedCredential: Credential = { kind: 'malformed' }

/** Of one header's value, scheme included. */
const MAX_CREDENTIAL_CHARS = 512
const SCHEME = 'bearer'
const SPACE = 0x20
const TAB = 0x09

/** The headers, in lower case, that these sources read beside `Authorization`. */
export function credentialHeaders(sources: readonly CredentialSource[]): readonly string[] {
  return sources.filter((source) => source !== 'query' && source !== 'bare-authorization')
}

/** The query parameter that the source `query` reads (RFC 6750 section 2.3). */
export const CREDENTIAL_PARAMETER = 'access_token'

/**
 * The credential of a request, from its raw headers: Node's own collection drops repeated ones silently. `count`: how
 * many there were of all kinds, `other` from elsewhere than `Authorization`, which is `otherFrom`; of two, none counts.
 *
 * @see spec/otlp-gateway.md 2 T-9
 */
export function oneCredential(
  count: number,
  authorization: string | undefined,
  other: string | undefined,
  otherFrom: CredentialPlace,
  allowsBare: boolean,
): Credential {
  if (count === 0) return noCredential
  if (count > 1) return malformedCredential
  if (authorization !== undefined) return fromAuthorization(authorization, allowsBare)
  return bearer(other!, 0, otherFrom)
}

function fromAuthorization(value: string, allowsBare: boolean): Credential {
  const schemeEnd = firstBlank(value)
  if (schemeEnd === -1) {
    const isSchemeAlone = value.length === SCHEME.length && hasScheme(value)
    return allowsBare && !isSchemeAlone ? bearer(value, 0, 'header') : malformedCredential
  }
  if (schemeEnd !== SCHEME.length || !hasScheme(value)) {
    return allowsBare && isBlank(value, schemeEnd) ? bearer(value, 0, 'header') : malformedCredential
  }
  let start = schemeEnd
  while (value.charCodeAt(start) === SPACE) start += 1
  return bearer(value, start, 'header')
}

function bearer(value: string, start: number, from: CredentialPlace): Credential {
  if (value.length > MAX_CREDENTIAL_CHARS) return malformedCredential
  let end = value.length
  while (end > start && isBlankCode(value.charCodeAt(end - 1))) end -= 1
  if (end === start) return malformedCredential
  // A blank inside is two values in one header, or a header joined from two by someone before us.
  for (let at = start; at < end; at += 1) if (isBlankCode(value.charCodeAt(at))) return malformedCredential
  return { kind: 'bearer', value: value.slice(start, end), from }
}

function hasScheme(value: string): boolean {
  // 0x20 is what tells a lower-case ASCII letter from its capital.
  for (let at = 0; at < SCHEME.length; at += 1) {
    if ((value.charCodeAt(at) | 0x20) !== SCHEME.charCodeAt(at)) return false
  }
  return true
}

function firstBlank(value: string): number {
  for (let at = 0; at < value.length; at += 1) if (isBlankCode(value.charCodeAt(at))) return at
  return -1
}

function isBlank(value: string, start: number): boolean {
  for (let at = start; at < value.length; at += 1) if (!isBlankCode(value.charCodeAt(at))) return false
  return true
}

function isBlankCode(code: number): boolean {
  return code === SPACE || code === TAB
}
