import type { FlatHeaders } from '../ingest/export-call.ts'

/** Which proxy asks: each has its own way to say what was asked of it, and its own codes it can pass on. */
export type ProxyKind = 'generic' | 'nginx' | 'envoy'

export interface CheckTarget {
  readonly proxy: ProxyKind
  /** What the client asked the proxy for, path and query; `undefined` when the proxy has not said it, or twice. */
  readonly original: string | undefined
}

const BASE = '/forward-auth'

/**
 * Takes a check apart, `undefined` when it is none.
 *
 *     /forward-auth               X-Forwarded-Uri says what was asked for (Traefik, Caddy)
 *     /forward-auth?proxy=nginx   X-Original-URI does
 *     /forward-auth/v1/traces     what follows is what was asked for, query included (Envoy)
 *     /forward-auth?proxy=envoy/v1/traces   the same, where a path prefix ends in the query
 *
 * Each proxy is believed in its own way only: proxies pass headers they do not know, so with another's header a client
 * could choose the signal it is judged by.
 *
 * @see spec/otlp-gateway.md 7
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

/** `undefined` when there is none, and when there are several: one of them would be the client's. */
export function singleHeader(headers: FlatHeaders, name: string): string | undefined {
  let found: string | undefined
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] !== name) continue
    if (found !== undefined) return undefined
    found = headers[at + 1]!
  }
  return found
}

/** The last entry is the one that the proxy itself has written; those before it are what clients claim. */
export function lastForwardedFor(headers: FlatHeaders): string | undefined {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (headers[at] !== 'x-forwarded-for') continue
    const value = headers[at + 1]!
    return value.slice(value.lastIndexOf(',') + 1).trim()
  }
  return undefined
}
