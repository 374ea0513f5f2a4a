/**
 * Matches a subject alternative name as OpenSSL writes it. The kind comes first, so a host name cannot be mistaken for a
 * URI: `DNS:agent.example.com`, `URI:spiffe://example.com/agent`, `email:ops@example.com`.
 */
export const certificateNamePattern =
  /^(?:DNS:(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){0,9}|URI:[a-z][a-z0-9+.-]{0,31}:[!-~]+|email:[!-?A-~]+@[a-z0-9.-]+)$/i

/** Normalizes a name for storage and comparison: host names become lower case. */
export function normalCertificateName(name: string): string {
  return name.startsWith('DNS:') ? `DNS:${name.slice(4).toLowerCase()}` : name
}

/**
 * Returns whether a token that is bound to certificates may be used over this connection.
 *
 * An empty `boundTo` allows any certificate. `names` is `undefined` on a listener that requires no certificate; there, the
 * token alone is sufficient. A `*` in a certificate has no special meaning.
 */
export function isCertificateAllowed(boundTo: readonly string[], names: readonly string[] | undefined): boolean {
  if (boundTo.length === 0 || names === undefined) return true
  return names.some((name) => boundTo.includes(name))
}
