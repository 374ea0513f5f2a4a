export { NewerVersionError } from '@penstock/db'
export {
  type ApiKeyJson,
  canBeApiKey,
  createApiKey,
  ensureFirstAdminKey,
  listApiKeys,
  revokeApiKey,
} from './accounts/api-key-operations.ts'
export { parseInput } from './accounts/operation-input.ts'
export type { OperationName } from './accounts/roles.ts'
export { loopbackProxies } from './admin/forward-auth.ts'
export { managementOpenApi } from './admin/management-app.ts'
export type { ManagementContext } from './admin/management-context.ts'
export { ApiError } from './api-error.ts'
export { ConfigError } from './config-error.ts'
export * from './gateway-config.ts'

export { metricsPage } from './metrics/metrics-page.ts'
export { defaultManagementRules, type GatewayDb, type OperationContext } from './operation-context.ts'
export type { IngestPlane } from './processes/ingest-plane.ts'
export { type OpenPlane, openIngestPlane } from './processes/open-ingest-plane.ts'
export { openManagement } from './processes/open-management.ts'
export { propagate } from './processes/propagate.ts'
export { RemotePlane, servePlane } from './processes/remote-plane.ts'
export { openGatewayStore } from './store/gateway-store.ts'
export { allowedOriginPattern } from './tokens/allowed-origins.ts'
export { openPeppers } from './tokens/open-peppers.ts'
export type { Peppers } from './tokens/pepper.ts'
export { MAX_OVERLAP_SECONDS } from './tokens/token-input.ts'
export { createToken, importToken, listTokens, revokeToken, rotateToken } from './tokens/token-operations.ts'
