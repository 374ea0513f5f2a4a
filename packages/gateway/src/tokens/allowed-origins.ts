/** Matches `https://app.example.com[:port]`, and `https://*.example.com[:port]` for all its subdomains at any depth. */
export const allowedOriginPattern =
  /^[a-z][a-z0-9+.-]{0,31}:\/\/(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,9}(?::\d{1,5})?$/

const WILDCARD = '://*.'

/**
 * Returns whether a token that is bound to origins may be used from this one (P-16).
 *
 * An empty list allows any origin. A token with a list is refused if the request names no origin, so that a token copied
 * from a page's source does not work from a command line.
 */
export function isOriginAllowed(allowedOrigins: readonly string[], origin: string | undefined): boolean {
  if (allowedOrigins.length === 0) return true
  if (origin === undefined) return false
  return allowedOrigins.some((pattern) => matches(pattern, origin))
}

function matches(pattern: string, origin: string): boolean {
  const wildcardAt = pattern.indexOf(WILDCARD)
  if (wildcardAt === -1) return pattern === origin
  const start = wildcardAt + '://'.length
  const suffix = pattern.slice(start + '*'.length)
  const end = origin.length - suffix.length
  if (end <= start || !origin.endsWith(suffix) || !origin.startsWith(pattern.slice(0, start))) return false
  return isHostPrefix(origin, start, end)
}

/** Accepts letters, digits, `-` and `.` only, so that nothing before the suffix can end the host. */
function isHostPrefix(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at)
    const ok = (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e
    if (!ok) return false
  }
  return text.charCodeAt(start) !== 0x2e
}
