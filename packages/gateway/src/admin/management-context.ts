import type { Log, TrustedProxies } from '@penstock/runtime'
import type { ReadinessReport } from '../enforcement/readiness.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { OtlpAddress } from './otlp-url.ts'
import type { PublicAddress } from './session-cookie.ts'

/** The dependencies of the management API. */
export interface ManagementDeps extends Omit<OperationContext, 'actor' | 'source' | 'requestId'>, PublicAddress {
  readonly log: Log
  readonly monotonicMs: () => number
  /** Reports what enforcement would have done in the last `windowMs`. */
  readonly readiness: (windowMs: number) => Promise<ReadinessReport>
  /** The `max-age` of Strict-Transport-Security. 0: the header is never sent. */
  readonly strictTransportSeconds: number
  /** Whether the gateway has a store of telemetry that it can query. */
  readonly isStoreConnected: boolean
  /** Where senders reach the OTLP ports. */
  readonly otlp: OtlpAddress
  /** Returns the address of the core, if this service knows one. Telemetry has URLs below it. */
  readonly coreUrl?: () => string | undefined
  /** The proxies that are trusted to set X-Forwarded-For. */
  readonly trustedProxies?: TrustedProxies
  /** The version of the product, for the OpenAPI document. */
  readonly version: string
}

/** The context of an authenticated call to the management API. */
export interface ManagementContext extends OperationContext {
  readonly readiness: ManagementDeps['readiness']
}
