import type { Log } from '@penstock/runtime'
import type { ReadinessReport } from '../enforcement/readiness.ts'
import type { OperationContext } from '../operation-context.ts'

/** What the management API is given when the gateway is put together. */
export interface ManagementDeps extends Omit<OperationContext, 'actor' | 'source' | 'requestId'> {
  readonly log: Log
  /** What enforcement would have done in the last `windowMs` (spec/otlp-gateway.md 4). */
  readonly readiness: (windowMs: number) => Promise<ReadinessReport>
  /** The `max-age` of Strict-Transport-Security. 0: never sent. */
  readonly strictTransportSeconds: number
  /** Of the product, for the API's description. */
  readonly version: string
}

/** What a call of the management API is handled with, once its caller has been let in. */
export interface ManagementContext extends OperationContext {
  readonly readiness: ManagementDeps['readiness']
}
