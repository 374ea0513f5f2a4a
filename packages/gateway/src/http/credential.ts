import type { Credential, CredentialPlace } from '../contract/credential.ts'
import type { CredentialSource } from '../contract/gateway-config.ts'

const noCredential: Credential = { kind: 'none' }
export const malformedCredential: Credential = { kind: 'malformed' }

/** The longest header value, including the scheme. */
const MAX_CREDENTIAL_CHARS = 512
const SCHEME = 'bearer'
const SPACE = 0x20
const TAB = 0x09

/** Returns the lower-case names of the headers that these sources read in addition to `Authorization`. */
export function credentialHeaders(sources: readonly CredentialSource[]): readonly string[] {
  return sources.filter((source) => source !== 'query' && source !== 'bare-authorization')
}

/** The query parameter of the source `query` (RFC 6750, section 2.3). */
export const CREDENTIAL_PARAMETER = 'access_token'

/**
 * Returns the credential of a request (T-9). `count` is the number of credentials in all headers and the query; more
 * than one is malformed. The caller counts raw headers, because Node silently drops repeated ones. `other` is a
 * credential from a source other than `Authorization`, and `otherFrom` is its place.
 */
export function readCredential(
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
  // White space inside means two values in one header, or two headers joined by a proxy.
  for (let at = start; at < end; at += 1) if (isBlankCode(value.charCodeAt(at))) return malformedCredential
  return { kind: 'bearer', value: value.slice(start, end), from }
}

function hasScheme(value: string): boolean {
  // Setting bit 0x20 converts an ASCII letter to lower case.
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
