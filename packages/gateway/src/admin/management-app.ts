import type { RequestListener } from 'node:http'
import {
  apiHeaders,
  guarded,
  openApiDocument,
  type Route,
  type ServedRoute,
  serveRoutes,
  strictTransportHeaders,
  unguarded,
} from '@penstock/http'
import type { OperationName } from '../accounts/roles.ts'
import { apiKeyRoutes } from './api-key-routes.ts'
import { enforcementRoutes } from './enforcement-routes.ts'
import { renderError } from './error-answers.ts'
import { keyGuard } from './key-guard.ts'
import type { ManagementContext, ManagementDeps } from './management-context.ts'
import { tokenRoutes } from './token-routes.ts'

/** Every call that wants a key. */
export const managementRoutes: readonly Route<ManagementContext, OperationName>[] = [
  ...tokenRoutes,
  ...enforcementRoutes,
  ...apiKeyRoutes,
]

/**
 * The management API (spec/otlp-gateway.md 3), and beside it `extraRoutes` for anyone (health, metrics, forward-auth) and
 * `keyedRoutes` for whoever has a key.
 *
 * Where an extra route and one of ours match alike, ours is served.
 */
export function managementApp(
  deps: ManagementDeps,
  extraRoutes: readonly ServedRoute[] = [],
  keyedRoutes: readonly Route<ManagementContext, OperationName>[] = [],
): RequestListener {
  // As bytes, which all answers share.
  const document = Buffer.from(JSON.stringify(managementOpenApi(deps.version)))
  const description: Route<undefined, undefined> = {
    method: 'GET',
    path: '/api/v1/openapi.json',
    access: undefined,
    handle: () => ({ status: 200, content: document, contentType: 'application/json; charset=utf-8' }),
  }
  const routes = [
    ...unguarded([description]),
    ...guarded([...managementRoutes, ...keyedRoutes], keyGuard(deps)),
    ...extraRoutes,
  ]
  return serveRoutes(routes, {
    renderError,
    headers: apiHeaders,
    log: deps.log,
    finish: (reply, { raw }) => {
      // The header is not verified: a client that forges it only changes its own answers, which nothing caches.
      const isHttps = raw.headers['x-forwarded-proto'] === 'https'
      return {
        ...reply,
        headers: { ...strictTransportHeaders(isHttps, deps.strictTransportSeconds), ...reply.headers },
      }
    },
  })
}

/** The OpenAPI document of the management API, for `version` of the product. */
export function managementOpenApi(version: string): Readonly<Record<string, unknown>> {
  return openApiDocument(managementRoutes, {
    info: {
      title: 'Penstock ingest_auth',
      version,
      description:
        'Ingest tokens and their enforcement. Viewers read, without network addresses and creators; Editors and Admins change; keys and the audit log are for Admins.',
    },
    tags: [
      { name: 'tokens', description: 'Bearer tokens that let telemetry in' },
      { name: 'enforcement', description: 'Whether those tokens are demanded' },
      { name: 'audit', description: 'Who changed what' },
      { name: 'api_keys', description: 'Keys of this API' },
    ],
    securitySchemes: { obsApiKey: { type: 'apiKey', in: 'header', name: 'OBS-API-KEY' } },
    security: () => ['obsApiKey'],
  })
}
