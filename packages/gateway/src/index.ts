export { NewerVersionError } from '@penstock/db'
export {
  canBeApiKey,
  createApiKey,
  ensureFirstAdminKey,
  listApiKeys,
  revokeApiKey,
} from './accounts/api-key-operations.ts'
export { toTooLargeError } from './admin/error-answers.ts'
export { loopbackProxies } from './admin/forward-auth.ts'
export { managementOpenApi } from './admin/management-app.ts'
export type { ManagementContext } from './admin/management-context.ts'
export type { BodyReceiver } from './contract/body-receiver.ts'
export { ConfigError } from './contract/config-error.ts'
export * from './contract/gateway-config.ts'
export { type GatewayProcessJson, listGatewayProcesses } from './enforcement/gateway-processes.ts'
export {
  FastConnection,
  type FastRequests,
  type FastSocket,
} from './http1/fast-connection.ts'
export { type FastHead, FastHeadReader } from './http1/fast-head.ts'
export { type FastPathState, fastPathState } from './http1/fast-path-state.ts'
export { metricsPage } from './metrics/metrics-page.ts'
export { ApiError } from './operations/api-error.ts'
export { defaultManagementRules, type OperationContext } from './operations/operation-context.ts'
export { parseInput } from './operations/operation-input.ts'
export type { OperationName } from './operations/roles.ts'
export { type PlaneRecord, readPlaneFile, writePlaneFile } from './plane/plane-file.ts'
export { identifyPlane, type PlaneEvidence, requireNewStoreAccepted, requireOwnStore } from './plane/plane-identity.ts'
export type { IngestPlane } from './processes/ingest-plane.ts'
export { type OpenPlane, openIngestPlane } from './processes/open-ingest-plane.ts'
export { openManagement } from './processes/open-management.ts'
export { propagate } from './processes/propagate.ts'
export { RemotePlane, servePlane } from './processes/remote-plane.ts'
export type { OnMode } from './processes/snapshot-watch.ts'
export { findPepperFile, openPeppers } from './secrets/open-peppers.ts'
export type { Peppers } from './secrets/pepper.ts'
export { createSignInCode } from './sessions/sign-in-code.ts'
export { connectToStore, openForPolling, openGatewayStore, requireUsableSchema } from './store/gateway-store.ts'
export { gatewayMigrations } from './store/migrations.ts'
export { isUnusedStore, MoveError, movePlane } from './store/move-plane.ts'
export type { GatewayDb, GatewayTables } from './store/tables.ts'
export { allowedOriginPattern } from './tokens/allowed-origins.ts'
export { MAX_OVERLAP_SECONDS } from './tokens/token-input.ts'
export { createToken, importToken, listTokens, revokeToken, rotateToken } from './tokens/token-operations.ts'
