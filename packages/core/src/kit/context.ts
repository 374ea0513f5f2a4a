import type { Db } from '@penstock/db'
import type { Clock } from '@penstock/runtime'
import type { Kysely, Transaction } from 'kysely'
import type { SpamCheck } from '../spam/spam-check.ts'
import type { ActingUser } from '../users/user.ts'
import type { DomainEvent, EventListener } from './event.ts'
import type { CoreTables } from './tables.ts'

/** What the domain needs of the world. One for the life of the process. */
export interface Core {
  readonly db: Db<CoreTables>
  readonly clock: Clock
  /** From the system's CSPRNG. */
  readonly randomBytes: (bytes: number) => Uint8Array
  readonly settings: CoreSettings
  /** In this order. */
  readonly listeners?: readonly EventListener[]
  /** Default: nothing is taken for spam. */
  readonly spamCheck?: SpamCheck
}

export interface CoreSettings {
  /** `svc`, in names of users, in identifiers. */
  readonly serviceName: string
  /** Every generated URL starts with it; without a slash at the end. */
  readonly externalUrl: string
  /** Where repositories lie. */
  readonly repositoriesDir: string
  /** 32 bytes, kept outside the database: what is secret in it is sealed with them. */
  readonly secretsKey: Uint8Array
  /** The bytes that a project may store, in its repository and in pipeline records; 0 for no limit. */
  readonly projectStorageBytes: number
  readonly impersonationEnabled: boolean
  /** Before the random part of a personal, project or group access token. */
  readonly personalAccessTokenPrefix: string
  readonly oauthTokenLifetimeSeconds: number
  /** Whether an administrator acts as one only with a token of the scope `admin_mode`. */
  readonly adminMode: boolean
  /** Whether a password gets a token without an application showing its credentials. */
  readonly ropcWithoutClientCredentials: boolean
}

/** Who asks; `undefined`: nobody has signed in. */
export type Actor = ActingUser | undefined

/** Enough to read. The instant is the same for all of one operation. */
export interface ReadContext {
  readonly db: Kysely<CoreTables>
  readonly nowMs: number
}

/** Enough to write: inside a transaction, which nobody else's write can come between. Nothing slow may be awaited in it. */
export interface Tx extends ReadContext {
  readonly db: Transaction<CoreTables>
  /** What happened, told to whoever wants to know, if the transaction commits. */
  recordEvent(event: DomainEvent): Promise<void>
  /**
   * Runs `work` once the transaction has committed, before the caller hears of it. The process may end in between: what has
   * to happen must be found again at the next start. A failure concerns nobody any more.
   */
  afterCommit(work: (core: Core) => Promise<void>): void
}

export interface OperationContext {
  readonly actor: Actor
  readonly core: Core
}
