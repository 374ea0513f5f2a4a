import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { headerName } from '@penstock/core'
import type { Incoming, Reply } from '@penstock/http'
import { discoveryPaths } from '../auth/openid-discovery.ts'

/** The headers of every response. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'max-age=0, private, must-revalidate',
  Vary: 'Origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'SAMEORIGIN',
}

const exposedOfLists = ['Link', 'X-Total', 'X-Total-Pages', 'X-Per-Page', 'X-Page', 'X-Next-Page', 'X-Prev-Page']
const exposedOfLimits = [
  'Retry-After',
  'RateLimit-Name',
  'RateLimit-Limit',
  'RateLimit-Observed',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-ResetTime',
]
const exposedOfFiles = [
  'Blob-Id',
  'Commit-Id',
  'Content-Sha256',
  'Encoding',
  'File-Name',
  'File-Path',
  'Last-Commit-Id',
  'Ref',
  'Size',
]
const PREFLIGHT_SECONDS = 7_200

/** The paths outside the API that other origins may call, with the allowed methods. */
const openOauthPaths: Readonly<Record<string, readonly string[]>> = {
  '/oauth/token': ['POST'],
  '/oauth/revoke': ['POST'],
  '/oauth/userinfo': ['GET', 'HEAD', 'POST'],
  ...Object.fromEntries(discoveryPaths.map((path) => [path, ['GET', 'HEAD']])),
}

interface Site {
  /** The external URL without a trailing slash. */
  readonly externalUrl: string
  readonly serviceName: string
}

/** Returns the CORS headers of a response; none if the request has no origin or the path is not open to other origins. */
export function corsHeaders(
  { path, method, raw }: Incoming,
  { externalUrl, serviceName }: Site,
): Record<string, string> {
  const { origin } = raw.headers
  if (origin === undefined) return {}
  const isOpen = path.startsWith('/api/') || openOauthPaths[path]?.includes(method) === true
  if (!isOpen) return {}
  const file = `X-${headerName(serviceName)}-`
  const exposed = [
    ...exposedOfLists,
    ...exposedOfLimits,
    'ETag',
    'X-Request-Id',
    ...exposedOfFiles.map((name) => file + name),
  ].join(', ')
  const isSameSite = origin === new URL(externalUrl).origin
  return {
    ...(isSameSite
      ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true' }
      : { 'Access-Control-Allow-Origin': '*' }),
    ...(path.startsWith('/api/') && { 'Access-Control-Expose-Headers': exposed }),
  }
}

/** Returns the response to a CORS preflight, or `undefined` if it is not one or asks for a call that is not open to others. */
export function preflightReply(incoming: Incoming): Reply | undefined {
  const { path, method, raw } = incoming
  const { origin, 'access-control-request-method': wanted, 'access-control-request-headers': headers } = raw.headers
  if (method !== 'OPTIONS' || origin === undefined || wanted === undefined) return undefined
  const isApi = path.startsWith('/api/')
  if (!isApi && !openOauthPaths[path]?.includes(wanted)) return undefined
  const allowed = isApi ? headers : 'Authorization'
  return {
    status: 200,
    headers: {
      // Set here because `corsHeaders` sees the method OPTIONS and not the requested one.
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': isApi
        ? 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
        : openOauthPaths[path]!.join(', '),
      ...(allowed !== undefined && { 'Access-Control-Allow-Headers': allowed }),
      'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
    },
    content: '',
    contentType: 'text/plain',
  }
}

/**
 * Adds a weak ETag to a response to GET or HEAD, or turns it into a 304 if If-None-Match has the ETag. A stream is not read
 * twice to compute one, so it has an ETag only if its route sets it.
 */
export function withEtag(reply: Reply, { method, raw }: Incoming): Reply {
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead || reply.status !== 200 || reply.headers?.['Cache-Control'] !== undefined) return reply
  const { content } = reply
  if (content === undefined) return reply
  const etag = content instanceof Readable ? reply.headers?.ETag : etagOf(content)
  if (etag === undefined) return reply
  const headers: Record<string, string> = { ...reply.headers, ETag: etag }
  if (!matches(raw.headers['if-none-match'], etag)) return { ...reply, headers }
  if (content instanceof Readable) content.destroy()
  const { 'Content-Length': _, ...kept } = headers
  return { status: 304, headers: kept }
}

function etagOf(content: string | Uint8Array | readonly Uint8Array[]): string {
  const digest = isParts(content) ? digestOfParts(content) : hash('sha256', content, 'hex')
  return `W/"${digest.slice(0, 32)}"`
}

const isParts = (content: string | Uint8Array | readonly Uint8Array[]): content is readonly Uint8Array[] =>
  Array.isArray(content)

function digestOfParts(parts: readonly Uint8Array[]): string {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest('hex')
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return ifNoneMatch?.split(',').some((tag) => tag.trim() === '*' || weak(tag) === weak(etag)) === true
}
