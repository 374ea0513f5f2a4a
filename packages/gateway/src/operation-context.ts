import type { Db } from '@penstock/db'
import type { GatewayTables } from './store/tables.ts'
import type { Peppers } from './tokens/pepper.ts'

export type GatewayDb = Db<GatewayTables>

export type Role = 'Viewer' | 'Editor' | 'Admin'

/** Who asks: the holder of an API key, or an operator at the command line. */
export interface Actor {
  readonly id: string
  readonly name: string
  readonly role: Role
}

export interface Propagation {
  readonly instances: number
  /** Of them, how many run the present epoch. */
  readonly applied: number
}

/** What every operation of the management side is given. */
export interface OperationContext {
  readonly db: GatewayDb
  readonly peppers: Peppers
  readonly nowMs: () => number
  /** From the system's CSPRNG. */
  readonly randomBytes: (bytes: number) => Uint8Array
  readonly actor: Actor
  /** Address of the caller, for the audit log. */
  readonly source: string | undefined
  readonly requestId: string | undefined
  readonly rules: ManagementRules
  /** After a committed change: tells the data paths, and waits until they run it, at most 2 s (T-13). */
  readonly propagate: () => Promise<Propagation>
}

export interface ManagementRules {
  /** Of tokens that are not revoked. Default 5,000. */
  readonly tokenLimit: number
  readonly uniqueNames: boolean
}

export const defaultManagementRules: ManagementRules = { tokenLimit: 5_000, uniqueNames: false }
