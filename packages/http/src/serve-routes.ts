import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS, type RequestListener } from 'node:http'
import Router, { type RouterContext } from '@koa/router'
import type { JsonLimits } from '@penstock/json'
import { type Log, type TrustedProxies, unmapped } from '@penstock/runtime'
import Koa from 'koa'
import { type Body, byName, readBody } from './read-body.ts'
import { ClientGone, defaultJsonLimits, readJson } from './read-json.ts'
import { type RequestErrorKind, RequestProblem } from './request-problem.ts'
import type { Admitted, Incoming, Reply, RouteRequest, ServedRoute } from './route.ts'

export interface ServeOptions {
  /** Every failure, the kit's `RequestProblem`s and whatever guards and handlers throw, in the API's own form. */
  renderError(error: unknown, incoming: Incoming): Reply
  /** On every answer, unless its reply says otherwise. */
  readonly headers: Readonly<Record<string, string>>
  /** Default 64 KiB. */
  readonly bodyLimitBytes?: number
  /** The limits on JSON bodies of routes that have no limits of their own. Default: `defaultJsonLimits`. */
  readonly jsonLimits?: JsonLimits
  readonly log: Log
  /** Asked where no route fits the path and method, before they are refused; an answer from here is the answer. */
  unmatched?(incoming: Incoming): Promise<Reply | undefined>
  /** The last word on every answer, refusals included. */
  finish?(reply: Reply, incoming: Incoming): Reply
  /** `/things/` is `/things`. */
  readonly takesTrailingSlash?: boolean
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies?: TrustedProxies
  /** OPTIONS of a path that has no such route: 204 with Allow. */
  readonly answersOptions?: boolean
}

/** For answers that are data: nothing may keep, sniff, frame or run them. */
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
/** Shorter than any token or key of ours, so that none can travel on in the place of an id. */
const acceptableRequestId = /^[0-9A-Za-z._-]{1,64}$/

/**
 * Serves `routes`; where two match, the first does.
 *
 * Order of checks: path (404), method (405 with Allow), the route's guard, media type (415), size (413), limits on JSON, JSON or form (400),
 * then the handler. Bodies are never logged. HEAD is served wherever GET is.
 */
export function serveRoutes(routes: readonly ServedRoute[], options: ServeOptions): RequestListener {
  const { renderError, bodyLimitBytes = DEFAULT_BODY_LIMIT_BYTES, jsonLimits = defaultJsonLimits, log } = options
  const limits = { limitBytes: bodyLimitBytes, jsonLimits }
  const app = new Koa()
  app.silent = true
  const router = new Router({ sensitive: true, strict: !options.takesTrailingSlash })

  async function bodyOf(
    route: ServedRoute,
    admitted: Admitted,
    request: IncomingMessage,
    needsBody: boolean,
  ): Promise<Body> {
    const forms = admitted.forms ?? route.forms
    if (route.body === undefined) return { body: undefined }
    try {
      if (forms !== undefined) return await readBody(request, limits, forms)
      return { body: await readJson(request, limits, needsBody) }
    } catch (error) {
      const isBeyond = error instanceof RequestProblem && beyondLimit.has(error.problem.kind)
      throw (isBeyond && admitted.beyondLimit) || error
    }
  }
  const finish = (context: Koa.Context, incoming: Incoming, reply: Reply) =>
    send(context, options.finish?.(reply, incoming) ?? reply)

  for (const route of routes) {
    const methods = route.method === '*' ? METHODS : route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
    const needsBody = route.body !== undefined && !route.body.safeParse(undefined).success
    router.register(route.path, methods, async (context: RouterContext) => {
      // The row's path, not the request's: what someone typed in the place of an id may be a secret.
      context.state.route = route.path
      context.state.reshape = route.reshape
      const incoming: Incoming = context.state.incoming
      const admitted = await route.admit(incoming)
      const body = await bodyOf(route, admitted, context.req, needsBody)
      finish(
        context,
        incoming,
        await admitted.handle({ ...incoming, params: context.params, query: queryOf(incoming.search), ...body }),
      )
    })
  }

  app.use(async (context, next) => {
    const incoming = incomingOf(context, options.trustedProxies)
    context.state.incoming = incoming
    context.set(options.headers)
    context.set('X-Request-Id', incoming.requestId)
    try {
      await next()
    } catch (error) {
      if (error instanceof ClientGone) return
      const plain = renderError(error, incoming)
      const reply: Reply = context.state.reshape?.(plain, error) ?? plain
      if (reply.status >= 500) logFailure(log, error, context, reply.status)
      finish(context, incoming, reply)
    }
  })
  app.use(router.routes())
  app.use(async (context) => {
    const incoming: Incoming = context.state.incoming
    const reply = await options.unmatched?.(incoming)
    if (reply !== undefined) return finish(context, incoming, reply)
    const layers = router.match(context.path, context.method).path
    if (layers.length === 0) throw new RequestProblem({ kind: 'not_found' })
    const allowed = [...new Set(layers.flatMap((layer) => layer.methods))].sort()
    if (options.answersOptions && context.method === 'OPTIONS') {
      return finish(context, incoming, { status: 204, headers: { Allow: allowed.join(', ') } })
    }
    throw new RequestProblem({ kind: 'method_not_allowed' }, { Allow: allowed.join(', ') })
  })
  return app.callback()
}

function incomingOf(context: Koa.Context, proxies: TrustedProxies | undefined): Incoming {
  const { remoteAddress = '' } = context.req.socket
  const peer = unmapped(remoteAddress)
  // Several headers of that name are one list.
  const forwardedFor = context.req.headersDistinct['x-forwarded-for']?.join()
  return {
    method: context.method,
    path: context.path,
    search: context.search,
    source: proxies?.clientOf(peer, forwardedFor) ?? peer,
    requestId: requestIdOf(context.req) ?? randomUUID(),
    raw: context.req,
  }
}

function requestIdOf({ headers }: IncomingMessage): string | undefined {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && acceptableRequestId.test(sent) ? sent : undefined
}

function queryOf(search: string): RouteRequest['query'] {
  return byName([...new URLSearchParams(search)])
}

function send(context: Koa.Context, reply: Reply): void {
  context.status = reply.status
  if (reply.headers) context.set(reply.headers)
  if (reply.json !== undefined) {
    context.body = JSON.stringify(reply.json)
    context.type = 'application/json; charset=utf-8'
  } else if (reply.content !== undefined) {
    // Before the body, for which koa would look for a type of its own.
    context.set('Content-Type', reply.contentType)
    context.body = typeof reply.content === 'string' ? reply.content : bufferOver(reply.content)
  } else {
    context.body = null
    // koa turns "no body" into 204 on its own.
    context.status = reply.status
  }
}

/** Returns a view of the same memory, so that an answer which many clients get is stored once. */
const bufferOver = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

function logFailure(log: Log, error: unknown, { method, state }: Koa.Context, status: number): void {
  // Of a failure that was put into an answer's words, what it was.
  const { message, stack, code } = ((error as Error).cause ?? error) as Partial<NodeJS.ErrnoException>
  log.error(
    {
      event: 'http.request_failed',
      method,
      route: state.route,
      status,
      request_id: state.incoming.requestId,
      code,
      error: message,
      stack,
    },
    'A request failed',
  )
}
