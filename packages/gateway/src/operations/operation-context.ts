import type { Peppers } from '../secrets/pepper.ts'
import type { GatewayDb } from '../store/tables.ts'

export type Role = 'Viewer' | 'Editor' | 'Admin'

/** The caller of an operation: the holder of an API key, or an operator at the command line. */
export interface Actor {
  readonly id: string
  readonly name: string
  readonly role: Role
}

export interface Propagation {
  readonly instances: number
  /** The number of those instances that run the current epoch. */
  readonly applied: number
}

/** The dependencies and the caller that every management operation receives. */
export interface OperationContext {
  readonly db: GatewayDb
  readonly peppers: Peppers
  readonly nowMs: () => number
  /** Returns bytes from the system's CSPRNG. */
  readonly randomBytes: (bytes: number) => Uint8Array
  readonly actor: Actor
  /** The address of the caller, for the audit log. */
  readonly source: string | undefined
  readonly requestId: string | undefined
  /** Identifies the request among those of the caller, if it must not create twice. */
  readonly idempotencyKey?: string
  readonly rules: ManagementRules
  /** Notifies the data paths of a committed change and waits until they run it, at most 2 s (T-13). */
  readonly propagate: () => Promise<Propagation>
}

export interface ManagementRules {
  /** The maximum number of tokens that are not revoked. The default is 5,000. */
  readonly tokenLimit: number
  readonly uniqueNames: boolean
}

export const defaultManagementRules: ManagementRules = { tokenLimit: 5_000, uniqueNames: false }
