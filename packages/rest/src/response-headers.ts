import { createHash } from 'node:crypto'
import type { Incoming, Reply } from '@penstock/http'

/** On every answer. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'max-age=0, private, must-revalidate',
  Vary: 'Origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'SAMEORIGIN',
}

const exposedOfLists = ['Link', 'X-Total', 'X-Total-Pages', 'X-Per-Page', 'X-Page', 'X-Next-Page', 'X-Prev-Page']
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

/** Paths outside the API that pages of other origins may call, and how. */
const openOauthPaths: Readonly<Record<string, readonly string[]>> = {
  '/oauth/token': ['POST'],
  '/oauth/revoke': ['POST'],
  '/oauth/userinfo': ['GET', 'HEAD', 'POST'],
}

/** `svc` → `Svc`, as a part of header names. */
export const headerName = (serviceName: string): string =>
  serviceName.replaceAll(/(^|-)([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())

interface Site {
  /** Without a slash at the end. */
  readonly externalUrl: string
  readonly serviceName: string
}

/** What a page of another origin may see of an answer; nothing, when the caller is no such page. */
export function corsHeaders(
  { path, method, raw }: Incoming,
  { externalUrl, serviceName }: Site,
): Record<string, string> {
  const { origin } = raw.headers
  if (origin === undefined) return {}
  const isOpen = path.startsWith('/api/') || openOauthPaths[path]?.includes(method) === true
  if (!isOpen) return {}
  const file = `X-${headerName(serviceName)}-`
  const exposed = [...exposedOfLists, ...exposedOfFiles.map((name) => file + name)].join(', ')
  const isOwn = origin === new URL(externalUrl).origin
  return {
    ...(isOwn
      ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true' }
      : { 'Access-Control-Allow-Origin': '*' }),
    ...(path.startsWith('/api/') && { 'Access-Control-Expose-Headers': exposed }),
  }
}

/**
 * The answer to a preflight; `undefined` for what is none, or asks for what only pages of our own may do.
 *
 * @see spec/rest-part2-details.md 1.10
 */
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
      // The last word on all answers knows the method of this request, which is not the one that is asked about.
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

/** An answer to GET or HEAD gets a weak ETag, and is a 304 where the caller has it already. */
export function revalidated(reply: Reply, { method, raw }: Incoming): Reply {
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead || reply.status !== 200 || reply.headers?.['Cache-Control'] !== undefined) return reply
  const { content } = reply
  if (content === undefined) return reply
  const etag = `W/"${createHash('sha256').update(content).digest('hex').slice(0, 32)}"`
  const headers = { ...reply.headers, ETag: etag }
  if (!knows(raw.headers['if-none-match'], etag)) return { ...reply, headers }
  return { status: 304, headers }
}

function knows(ifNoneMatch: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return ifNoneMatch?.split(',').some((tag) => tag.trim() === '*' || weak(tag) === weak(etag)) === true
}
