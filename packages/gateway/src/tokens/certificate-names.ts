/**
 * Subject alternative names as OpenSSL writes them, kind first, so that a host name can never be taken for a URI:
 * `DNS:agent.example.com`, `URI:spiffe://example.com/agent`, `email:ops@example.com`.
 */
export const certificateNamePattern =
  /^(?:DNS:(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){0,9}|URI:[a-z][a-z0-9+.-]{0,31}:[!-~]+|email:[!-?A-~]+@[a-z0-9.-]+)$/i

/** As names are kept and compared: of a host name the case does not count. */
export function normalCertificateName(name: string): string {
  return name.startsWith('DNS:') ? `DNS:${name.slice(4).toLowerCase()}` : name
}

/**
 * Whether a token that is bound to certificates may be used over this connection.
 *
 * An empty list binds to nothing. `undefined` is a listener that demands no certificate: there the token has nothing to
 * be compared with, and counts by itself. A `*` in a certificate is compared like any other character.
 */
export function isCertificateAllowed(boundTo: readonly string[], names: readonly string[] | undefined): boolean {
  if (boundTo.length === 0 || names === undefined) return true
  return names.some((name) => boundTo.includes(name))
}
