import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS, type RequestListener } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import type { RouterContext } from '@koa/router'
import type { JsonLimits } from '@penstock/json'
import { type Log, subscriberOf, type TrustedProxies, unmapIpv4 } from '@penstock/runtime'
import Koa from 'koa'
import { answerStream, SHORT_ANSWER_BYTES } from '../answers/answer-stream.ts'
import { UnreadAnswers } from '../answers/unread-answers.ts'
import { type Body, groupByName, readBody } from '../bodies/read-body.ts'
import { ClientGone, defaultJsonLimits, readJson } from '../bodies/read-json.ts'
import { type RequestErrorKind, RequestProblem } from '../bodies/request-problem.ts'
import type { UploadSpace } from '../bodies/upload-space.ts'
import { withBoundedJson } from './bounded-json.ts'
import { RequestFailureLog } from './request-failure-log.ts'
import {
  type Admitted,
  type Content,
  type Incoming,
  parsePathParameters,
  type Reply,
  type RouteRequest,
  type ServedRoute,
} from './route.ts'
import { RouteIndex } from './route-index.ts'

export interface ServeOptions {
  /** Turns every error into a response in the API's format: `RequestProblem`, and what guards and handlers throw. */
  renderError(error: unknown, incoming: Incoming): Reply
  /** The headers of every response, unless the reply overrides them. */
  readonly headers: Readonly<Record<string, string>>
  /** The maximum size of a body. Default: 64 KiB. */
  readonly bodyLimitBytes?: number
  /** The Content-Type of JSON. Default: `application/json; charset=utf-8`. */
  readonly jsonContentType?: string
  /** The limits on JSON bodies, for routes that do not set them. Default: `defaultJsonLimits`. */
  readonly jsonLimits?: JsonLimits
  readonly log: Log
  /** Called if no route matches the path and method. If it returns `undefined`, the response is 404 or 405. */
  unmatched?(incoming: Incoming): Promise<Reply | undefined>
  /** Called if a browser asks for a page at a path that no route has. If it returns `undefined`, the response is the error. */
  notFoundPage?(incoming: Incoming): Promise<Reply | undefined>
  /** Called with every reply, including errors, and returns the reply that is sent. */
  finish?(reply: Reply, incoming: Incoming): Reply
  /** Set if `/things/` matches the route `/things`. */
  readonly takesTrailingSlash?: boolean
  /** The proxies that are trusted to set X-Forwarded-For. */
  readonly trustedProxies?: TrustedProxies
  /** The place of files that are being uploaded, for routes with `filesOnDisk`. */
  readonly uploads?: UploadSpace
  /** Counts the answers that wait for their readers. Default: with the default limits. */
  readonly unread?: UnreadAnswers
  /** Set if OPTIONS is answered with 204 and Allow on paths that have no route for it. */
  readonly answersOptions?: boolean
}

/** Headers for responses that are data: they may not be cached, sniffed, framed or executed. */
export const apiHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** Returns the header that restricts browsers to HTTPS for this host (RFC 6797); no header over HTTP, or for 0 seconds. */
export function strictTransportHeaders(isHttps: boolean, seconds: number): Readonly<Record<string, string>> {
  return isHttps && seconds > 0 ? { 'Strict-Transport-Security': `max-age=${seconds}` } : {}
}

const DEFAULT_BODY_LIMIT_BYTES = 64 * 1024
const beyondLimit: ReadonlySet<RequestErrorKind['kind']> = new Set(['body_too_large', 'json_beyond_limit'])
/** Accepts only ids that are shorter than every token and key of Penstock, so that no secret is passed on as a request id. */
const acceptableRequestId = /^[0-9A-Za-z._-]{1,64}$/

/**
 * Serves `routes`. If two match, the first one is used.
 *
 * The checks run in this order: path (404), method (405 with Allow), the route's guard, media type (415), size (413), limits
 * on JSON, JSON or form syntax (400), then the handler. Bodies are never logged. HEAD is served for every GET route.
 */
export function serveRoutes(routes: readonly ServedRoute[], options: ServeOptions): RequestListener {
  const { renderError, bodyLimitBytes = DEFAULT_BODY_LIMIT_BYTES, jsonLimits = defaultJsonLimits, log } = options
  const { jsonContentType = 'application/json; charset=utf-8' } = options
  const limits = { limitBytes: bodyLimitBytes, jsonLimits }
  const unread = options.unread ?? new UnreadAnswers()
  const failures = new RequestFailureLog(log)
  const app = new Koa()
  app.silent = true

  async function bodyOf(
    route: ServedRoute,
    admitted: Admitted,
    request: IncomingMessage,
    needsBody: boolean,
  ): Promise<Body> {
    const forms = admitted.forms ?? route.forms
    if (route.body === undefined) return { body: undefined }
    try {
      if (forms !== undefined) return await readBody(request, limits, forms, options.uploads)
      return { body: await readJson(request, limits, needsBody) }
    } catch (error) {
      const isBeyond = error instanceof RequestProblem && beyondLimit.has(error.problem.kind)
      throw (isBeyond && admitted.beyondLimit) || error
    }
  }
  const finish = (context: Koa.Context, incoming: Incoming, reply: Reply) =>
    send(context, options.finish?.(reply, incoming) ?? reply, { address: subscriberOf(incoming.source), unread })

  const indexed = routes.map((route) => {
    const methods = route.method === '*' ? METHODS : route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
    const spanning = parsePathParameters(route.path).flatMap(({ name, spansSegments }) => (spansSegments ? [name] : []))
    const needsBody = route.body !== undefined && !route.body.safeParse(undefined).success
    const serve = async (context: RouterContext) => {
      // The log gets the route's path and not the request's, because a client may put a secret in place of an id.
      context.state.route = route.path
      context.state.reshape = route.reshape
      const incoming: Incoming = context.state.incoming
      const admitted = await route.admit(incoming)
      const { dispose, ...body } = await bodyOf(route, admitted, context.req, needsBody)
      const params = withoutTrailingSlashes(context.params, spanning)
      try {
        const reply = await admitted.handle({ ...incoming, params, query: queryOf(incoming.search), ...body })
        finish(context, incoming, await withBoundedJson(reply, jsonContentType))
      } finally {
        await dispose?.()
      }
    }
    return { path: route.path, methods, serve }
  })
  const index = new RouteIndex(indexed, { sensitive: true, strict: !options.takesTrailingSlash })

  app.use(async (context, next) => {
    const incoming = incomingOf(context, options.trustedProxies)
    context.state.incoming = incoming
    context.set(options.headers)
    context.set('X-Request-Id', incoming.requestId)
    try {
      await next()
    } catch (error) {
      if (error instanceof ClientGone) return
      const rendered = renderError(error, incoming)
      const reply: Reply = context.state.reshape?.(rendered, error) ?? rendered
      if (reply.status >= 500) {
        const { requestId, method } = incoming
        failures.failed({ method, route: context.state.route, status: reply.status, requestId, error })
      }
      finish(context, incoming, reply)
      return
    }
    failures.succeeded()
  })
  app.use((context, next) => index.routerOf(context.method, context.path)(context as RouterContext, next))
  app.use(async (context) => {
    const incoming: Incoming = context.state.incoming
    const reply = await options.unmatched?.(incoming)
    if (reply !== undefined) return finish(context, incoming, reply)
    const allowed = index.methodsOf(context.path)
    if (allowed.length === 0) {
      const page = asksForPage(incoming) ? await options.notFoundPage?.(incoming) : undefined
      if (page !== undefined) return finish(context, incoming, page)
      throw new RequestProblem({ kind: 'not_found' })
    }
    if (options.answersOptions && context.method === 'OPTIONS') {
      return finish(context, incoming, { status: 204, headers: { Allow: allowed.join(', ') } })
    }
    throw new RequestProblem({ kind: 'method_not_allowed' }, { Allow: allowed.join(', ') })
  })
  return app.callback()
}

/** Returns whether a browser shows the answer as a page: it names HTML, which clients of the API do not, and the path is not of the API. */
function asksForPage({ method, path, raw }: Incoming): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return !/^\/api(\/|$)/.test(path) && /(^|[\s,])text\/html($|[\s,;])/i.test(raw.headers.accept ?? '')
}

/** Removes the slash at the end of the path from parameters that match several segments. */
function withoutTrailingSlashes(params: RouteRequest['params'], spanning: readonly string[]): RouteRequest['params'] {
  if (spanning.length === 0) return params
  const trimmed = spanning.map((name) => [name, params[name]?.replace(/\/$/, '')])
  return { ...params, ...Object.fromEntries(trimmed) }
}

function incomingOf(context: Koa.Context, proxies: TrustedProxies | undefined): Incoming {
  const { remoteAddress = '' } = context.req.socket
  const peer = unmapIpv4(remoteAddress)
  return {
    method: context.method,
    path: context.path,
    search: context.search,
    source: proxies?.clientOf(peer, forwardedFor(context.req)) ?? peer,
    requestId: requestIdOf(context.req) ?? randomUUID(),
    raw: context.req,
  }
}

/** Returns the header as one list if it is repeated. It is asked for first, because Node makes `headersDistinct` from all headers. */
const forwardedFor = (request: IncomingMessage): string | undefined =>
  'x-forwarded-for' in request.headers ? request.headersDistinct['x-forwarded-for']?.join() : undefined

function requestIdOf({ headers }: IncomingMessage): string | undefined {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && acceptableRequestId.test(sent) ? sent : undefined
}

function queryOf(search: string): RouteRequest['query'] {
  return groupByName([...new URLSearchParams(search)])
}

/** The reader of an answer, and the count of the answers that wait for their readers. */
interface Reader {
  readonly address: string
  readonly unread: UnreadAnswers
}

function send(context: Koa.Context, reply: Reply, reader: Reader): void {
  context.status = reply.status
  if (reply.headers) context.set(reply.headers)
  if (reply.json !== undefined) {
    sendContent(context, JSON.stringify(reply.json), reader)
    context.type = 'application/json; charset=utf-8'
  } else if (reply.content !== undefined) {
    // The type is set before the body, because koa would otherwise choose one.
    context.set('Content-Type', reply.contentType)
    if (reply.isCompressible) context.vary('Accept-Encoding')
    if (!reply.isCompressible || !sendCompressed(context, reply.content, reader))
      sendContent(context, reply.content, reader)
  } else {
    context.body = null
    // koa sets 204 when the body becomes null, so the status is set again.
    context.status = reply.status
  }
}

function sendContent(context: Koa.Context, content: Content, { address, unread }: Reader): void {
  const { res: response } = context
  if (content instanceof Readable) {
    // The status is sent already, so a failure can only be shown by ending the connection.
    content.once('error', () => response.destroy())
    // Content that its source destroys is not to be sent any more, including what the response has buffered for a slow client.
    content.once('close', () => {
      if (!response.writableEnded) response.destroy()
    })
    context.body = content
    return
  }
  const parts = toParts(content)
  const bytes = parts.reduce((sum, { length }) => sum + length, 0)
  if (typeof content === 'string' && bytes <= SHORT_ANSWER_BYTES) context.body = content
  else if (bytes <= SHORT_ANSWER_BYTES || context.method === 'HEAD') context.body = Buffer.concat(parts)
  else context.body = answerStream(parts, { address, response, unread })
  context.length = bytes
}

/** The size from which a compressed answer is shorter by more than its costs. */
const COMPRESSED_FROM_BYTES = 1024

/** Compresses in a thread, while the client reads. Returns false if the content has to be sent as it is. */
function sendCompressed(context: Koa.Context, content: Content, { address, unread }: Reader): boolean {
  if (content instanceof Readable || context.method === 'HEAD') return false
  if (context.acceptsEncodings('gzip', 'identity') !== 'gzip') return false
  const parts = toParts(content)
  if (parts.reduce((sum, { length }) => sum + length, 0) <= COMPRESSED_FROM_BYTES) return false
  const source = answerStream(parts, { address, response: context.res, unread })
  context.set('Content-Encoding', 'gzip')
  // An end before the last byte is the end of the connection, which the response reports.
  context.body = pipeline(source, createGzip({ level: constants.Z_BEST_SPEED }), () => {})
  return true
}

const toParts = (content: Exclude<Content, Readable>): readonly Buffer[] =>
  typeof content === 'string'
    ? [Buffer.from(content)]
    : isParts(content)
      ? content.map(bufferOver)
      : [bufferOver(content)]

const isParts = (content: Exclude<Content, Readable>): content is readonly Uint8Array[] => Array.isArray(content)

/** Returns a Buffer over the same memory, so that content which many clients receive is stored only once. */
const bufferOver = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)
