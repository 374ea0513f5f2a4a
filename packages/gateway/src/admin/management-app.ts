import type { RequestListener } from 'node:http'
import {
  apiHeaders,
  guarded,
  openApiDocument,
  type Route,
  type RouteShape,
  type ServedRoute,
  serveRoutes,
  strictTransportHeaders,
  unguarded,
} from '@penstock/http'
import type { OperationName } from '../operations/roles.ts'
import { apiKeyRoutes } from './api-key-routes.ts'
import { CSRF_HEADER, callerGuard } from './caller-guard.ts'
import type { ServedConsole } from './console-routes.ts'
import { Denials } from './denials.ts'
import { enforcementRoutes } from './enforcement-routes.ts'
import { renderError } from './error-answers.ts'
import type { ManagementContext, ManagementDeps } from './management-context.ts'
import { isHttps, SESSION_COOKIE } from './session-cookie.ts'
import { sessionRoutes, sessionShapes } from './session-routes.ts'
import { tokenRoutes } from './token-routes.ts'

/** The routes that require an API key or a session. */
export const managementRoutes: readonly Route<ManagementContext, OperationName>[] = [
  ...tokenRoutes,
  ...enforcementRoutes,
  ...apiKeyRoutes,
]

/**
 * Returns the listener of the management API. `extraRoutes` need no key (health, metrics, forward-auth, the console); `keyedRoutes` need a key
 * or a session. `notFoundPage` answers browsers at unknown paths.
 *
 * If an extra route and a route of the API both match, the API's is served.
 */
export function managementApp(
  deps: ManagementDeps,
  extraRoutes: readonly ServedRoute[] = [],
  keyedRoutes: readonly Route<ManagementContext, OperationName>[] = [],
  notFoundPage?: ServedConsole['notFoundPage'],
): RequestListener {
  // Made when it is first asked for, and once, because all answers share the bytes.
  let document: Buffer | undefined
  const description: Route<undefined, undefined> = {
    method: 'GET',
    path: '/api/v1/openapi.json',
    access: undefined,
    handle() {
      document ??= Buffer.from(JSON.stringify(managementOpenApi(deps.version, keyedRoutes)))
      return { status: 200, content: document, contentType: 'application/json; charset=utf-8' }
    },
  }
  const denials = new Denials(deps)
  const routes = [
    ...unguarded([description, ...sessionRoutes(deps, denials)]),
    ...guarded([...managementRoutes, ...keyedRoutes], callerGuard(deps, denials)),
    ...extraRoutes,
  ]
  return serveRoutes(routes, {
    renderError,
    headers: apiHeaders,
    log: deps.log,
    ...(notFoundPage && { notFoundPage }),
    ...(deps.trustedProxies && { trustedProxies: deps.trustedProxies }),
    finish: (reply, { raw }) => ({
      ...reply,
      headers: { ...strictTransportHeaders(isHttps(raw, deps), deps.strictTransportSeconds), ...reply.headers },
    }),
  })
}

/**
 * Returns the OpenAPI document of the management API.
 *
 * @param version the product's
 * @param keyedRoutes further routes that require an API key or a session, such as the queries of an embedded store
 */
export function managementOpenApi(
  version: string,
  keyedRoutes: readonly RouteShape<OperationName>[] = [],
): Readonly<Record<string, unknown>> {
  const shapes: RouteShape<OperationName | 'session' | undefined>[] = [
    ...managementRoutes,
    ...Object.values(sessionShapes),
    ...keyedRoutes,
  ]
  return openApiDocument(shapes, {
    info: {
      title: 'Penstock ingest_auth',
      version,
      description:
        'Ingest tokens and their enforcement. Viewers can read, without network addresses and creators; Editors and Admins can change; API keys and the audit log are for Admins only.',
    },
    tags: [
      { name: 'tokens', description: 'Bearer tokens that authorize telemetry' },
      { name: 'enforcement', description: 'Whether those tokens are required' },
      { name: 'audit', description: 'Changes and refusals, with their actors' },
      { name: 'api_keys', description: 'Keys of this API' },
      { name: 'session', description: 'Signing in to the console' },
      ...(keyedRoutes.length > 0
        ? [{ name: 'observe', description: 'Queries about received telemetry, served with the embedded store' }]
        : []),
    ],
    securitySchemes: {
      obsApiKey: { type: 'apiKey', in: 'header', name: 'OBS-API-KEY' },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: SESSION_COOKIE,
        description: `Over HTTPS the name has the prefix __Host-. Requests that change something also need ${CSRF_HEADER}.`,
      },
    },
    security: (access) => (access === undefined ? [] : access === 'session' ? ['session'] : ['obsApiKey', 'session']),
  })
}
