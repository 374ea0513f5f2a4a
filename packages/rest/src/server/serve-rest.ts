import type { IncomingMessage, RequestListener } from 'node:http'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { type Core, headerName, settingOf } from '@penstock/core'
import {
  BuildQueue,
  type Incoming,
  type Reply,
  type ServedRoute,
  serveRoutes,
  strictTransportHeaders,
  UploadSpace,
  unguarded,
} from '@penstock/http'
import type { Log, TrustedProxies } from '@penstock/runtime'
import { authenticate } from '../auth/authenticate.ts'
import { notFoundPage } from '../auth/not-found-page.ts'
import { renderError } from '../routing/error-response.ts'
import { restOpenApi } from '../routing/openapi.ts'
import { RestError } from '../routing/rest-error.ts'
import { API_PREFIX, type Area } from '../routing/route.ts'
import { avatarRoute } from './avatar-route.ts'
import { DocumentReader } from './document-reader.ts'
import { healthRoutes } from './health-routes.ts'
import { defaultRateLimits, type RateLimits, Throttle } from './rate-limit.ts'
import { commonHeaders, corsHeaders, preflightReply, withEtag } from './response-headers.ts'
import type { Authenticate } from './row-caller.ts'
import { securityTxtRoute } from './security-txt-route.ts'
import { type RowDeps, servedRow } from './served-row.ts'
import { wikiAttachmentRoutes } from './wiki-attachment-route.ts'

export interface RestOptions {
  readonly core: Core
  readonly areas: readonly Area[]
  readonly log: Log
  /** Identifies the caller. Default: by the credentials that the core knows. */
  readonly authenticate?: Authenticate
  /** The rate limits; with `off`, requests are not counted and responses have no rate limit headers. */
  readonly rateLimits?: RateLimits | 'off'
  /** The proxies that are trusted to set X-Forwarded-For. Default: none. */
  readonly trustedProxies?: TrustedProxies
  /** The `max-age` of Strict-Transport-Security, which is sent if the external URL is HTTPS; 0 disables it. Default: a year. */
  readonly strictTransportSeconds?: number
  /** Routes besides the API, with their full paths. Routes of the API take precedence. */
  readonly extraRoutes?: readonly ExtraRoute[]
}

interface ExtraRoute extends ServedRoute {
  /**
   * Returns the user that the throttle counts, or `undefined` to count the address. Throws if the credential may not be
   * used; the error has a `userId` if the user is known.
   */
  callerId?(incoming: Incoming): Promise<number | undefined>
}

/** The maximum size of JSON and forms: a description may have 1 MiB, and escaping makes it longer. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024
/** The maximum size of a URL; longer parameters belong in the body. */
const TARGET_LIMIT_BYTES = 8 * 1024
const YEAR_SECONDS = 365 * 86_400
const API_V3_GONE = 'API V3 is no longer supported. Use API V4 instead.'

/**
 * Returns the request listener of the REST API.
 *
 * The checks run in this order: length of the URL, CORS preflight, request throttle, path and method, format, body, caller,
 * parameters, then the operation with its permissions. The caller is looked up before the body is read, because the size
 * limit of the body depends on the caller.
 */
export function restListener(options: RestOptions): RequestListener {
  const { core, areas, log, rateLimits = defaultRateLimits, extraRoutes = [] } = options
  const { settings, clock } = core
  const throttle =
    rateLimits === 'off'
      ? undefined
      : new Throttle(rateLimits, clock, () => settingOf(core, 'rate_limiting_response_text'))
  const startTimes = new WeakMap<IncomingMessage, number>()
  const isHttps = settings.externalUrl.startsWith('https://')
  const headers = {
    ...commonHeaders,
    ...strictTransportHeaders(isHttps, options.strictTransportSeconds ?? YEAR_SECONDS),
  }
  const metaHeader = `X-${headerName(settings.serviceName)}-Meta`

  const rowDeps: RowDeps = {
    core,
    authenticate: options.authenticate ?? authenticate,
    throttle,
    documents: new DocumentReader(),
    longAnswers: new BuildQueue(),
  }
  const rows = areas.flatMap(({ routes }) => routes.map((row) => servedRow(row, rowDeps)))
  const extras = [
    ...openApiRoute(areas, settings.serviceName),
    ...healthRoutes(core),
    ...securityTxtRoute(core),
    ...extraRoutes,
  ].map(
    (route: ExtraRoute): ServedRoute => ({
      ...route,
      async admit(incoming) {
        await throttle?.count(incoming, await extraRouteCaller(route, incoming, throttle))
        return route.admit(incoming)
      },
    }),
  )

  const app = serveRoutes([...rows, avatarRoute(rowDeps), ...wikiAttachmentRoutes(rowDeps), ...extras], {
    renderError,
    headers,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    log,
    ...(options.trustedProxies && { trustedProxies: options.trustedProxies }),
    takesTrailingSlash: true,
    // Beside the repositories, so that a file is kept by renaming it.
    uploads: new UploadSpace(join(dirname(settings.repositoriesDir), 'uploads-in-progress')),
    answersOptions: true,
    jsonContentType: JSON_TYPE,
    async unmatched(incoming) {
      // A browser sends a preflight without credentials before each call of a signed-in user, so it is not counted for the address.
      const preflight = preflightReply(incoming)
      if (preflight !== undefined) return preflight
      await throttle?.count(incoming)
      if (/^\/api\/v3(\/|$)/.test(incoming.path)) throw new RestError(410, { error: API_V3_GONE })
      return undefined
    },
    notFoundPage: (incoming) => notFoundPage(core, incoming),
    finish(reply, incoming) {
      const { status, headers: own, ...body } = withEtag(serialized(reply), incoming)
      const seconds = (performance.now() - (startTimes.get(incoming.raw) ?? performance.now())) / 1_000
      const all: Record<string, string> = { 'X-Runtime': seconds.toFixed(6) }
      all[metaHeader] = JSON.stringify({ correlation_id: incoming.requestId, version: '1' })
      Object.assign(all, throttle?.headersOf(incoming.raw), corsHeaders(incoming, settings), own)
      return { status, headers: all, ...body }
    },
  })
  return (request, response) => {
    if ((request.url?.length ?? 0) > TARGET_LIMIT_BYTES) {
      response.writeHead(414, { ...headers, 'Content-Type': 'application/json' })
      return response.end('{"error":"414 URI Too Long"}')
    }
    // Clients that join a base URL ending in a slash with a path send `//api/v4` or `/api/v4//version`.
    request.url = request.url?.replace(/^\/{2,}/, '/').replace(/^(\/api\/v4\/)\/+/, '$1')
    startTimes.set(request, performance.now())
    return app(request, response)
  }
}

async function extraRouteCaller(route: ExtraRoute, incoming: Incoming, throttle: Throttle | undefined) {
  if (route.callerId === undefined) return undefined
  await throttle?.requireFailureAllowance(incoming)
  try {
    return await route.callerId(incoming)
  } catch (refusal) {
    const { status, userId } = refusal as { readonly status?: unknown; readonly userId?: number }
    if (userId !== undefined) await throttle?.count(incoming, userId)
    else if (status === 401) await throttle?.countFailure(incoming)
    throw refusal
  }
}

/** Without a charset, as GitLab sends it. */
const JSON_TYPE = 'application/json'

/** Serializes a JSON reply. */
function serialized(reply: Reply): Reply {
  if (reply.json === undefined) return reply
  const { json, ...rest } = reply
  return { ...rest, content: JSON.stringify(json), contentType: JSON_TYPE }
}

function openApiRoute(areas: readonly Area[], serviceName: string): ServedRoute[] {
  let document: Buffer | undefined
  return unguarded([
    {
      method: 'GET',
      path: `${API_PREFIX}/openapi.json`,
      access: undefined,
      handle: () => {
        // Generated on first use, because most processes never serve it. All responses share the bytes.
        document ??= Buffer.from(JSON.stringify(restOpenApi(areas, serviceName)))
        return { status: 200, content: document, contentType: 'application/json' }
      },
    },
  ])
}
