import { type Listening, listen, type ServedRoute } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import type { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import type { ServedConsole } from './console-routes.ts'
import { managementApp } from './management-app.ts'
import type { ManagementDeps } from './management-context.ts'

/** Serves the management API of a gateway on a free port of loopback. */
export function serveManagement(
  gateway: TemporaryGateway,
  extraRoutes: readonly ServedRoute[] = [],
  changes: Partial<ManagementDeps> = {},
  notFoundPage?: ServedConsole['notFoundPage'],
): Promise<Listening> {
  const { db, peppers, clock } = gateway
  const { actor: _actor, source: _source, requestId: _requestId, ...context } = gateway.as('Admin')
  const deps: ManagementDeps = {
    ...context,
    ...{ db, peppers, log: silentLog, nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs() },
    readiness: () => Promise.reject(new Error('not used')),
    externalUrl: undefined,
    strictTransportSeconds: 31_536_000,
    isStoreConnected: false,
    otlp: { externalUrl: undefined, bound: { host: '127.0.0.1', port: 4318 }, isTls: false },
    version: '0.0.0',
    ...changes,
  }
  return listen(managementApp(deps, extraRoutes, [], notFoundPage), { host: '127.0.0.1', port: 0 })
}
