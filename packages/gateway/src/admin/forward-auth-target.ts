import type { FlatHeaders } from '../contract/export-call.ts'

/** The kind of proxy that sends the check. Each passes the original path, and handles status codes, in its own way. */
export type ProxyKind = 'generic' | 'nginx' | 'envoy'

interface CheckTarget {
  readonly proxy: ProxyKind
  /** The path and query that the client requested, or `undefined` if the proxy sent none, or sent it twice. */
  readonly original: string | undefined
}

const BASE = '/forward-auth'

/**
 * Parses the URL of a check. Returns `undefined` if it is not a check.
 *
 *     /forward-auth               the original path is in X-Forwarded-Uri (Traefik, Caddy)
 *     /forward-auth?proxy=nginx   the original path is in X-Original-URI
 *     /forward-auth/v1/traces     the original path and query follow (Envoy)
 *     /forward-auth?proxy=envoy/v1/traces   the same, for a path prefix that ends in the query
 *
 * Each proxy kind may use only its own form. Proxies pass on headers that they do not know. If every form were
 * accepted, a client could send the header of another proxy and so choose the signal that it is checked for.
 */
export function checkTarget(url: string, headers: FlatHeaders): CheckTarget | undefined {
  if (!url.startsWith(BASE)) return undefined
  if (url.charAt(BASE.length) === '/') return { proxy: 'envoy', original: url.slice(BASE.length) }
  const query = url.slice(BASE.length)
  if (query !== '' && !query.startsWith('?')) return undefined
  if (query.startsWith('?proxy=envoy')) {
    const rest = query.slice('?proxy=envoy'.length)
    return { proxy: 'envoy', original: rest.startsWith('/') ? rest : undefined }
  }
  if (query === '?proxy=nginx') return { proxy: 'nginx', original: singleHeader(headers, 'x-original-uri') }
  return { proxy: 'generic', original: singleHeader(headers, 'x-forwarded-uri') }
}

/**
 * Returns the value of a header, or `undefined` if it is absent or repeated. If it is repeated, one of the values comes
 * from the client.
 */
export function singleHeader(headers: FlatHeaders, name: string): string | undefined {
  let found: string | undefined
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== name) continue
    if (found !== undefined) return undefined
    found = headers[at + 1]!
  }
  return found
}

/** Returns the last entry, which the proxy itself wrote. The entries before it are claims of the client. */
export function lastForwardedFor(headers: FlatHeaders): string | undefined {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (headers[at] !== 'x-forwarded-for') continue
    const value = headers[at + 1]!
    return value.slice(value.lastIndexOf(',') + 1).trim()
  }
  return undefined
}
