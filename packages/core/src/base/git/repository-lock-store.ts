import type { Transaction } from 'kysely'
import type { CoreTables } from '../kit/tables.ts'
import type { RepositoryContext } from './repository-context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    repository_locks: RepositoryLocksTable
  }
}

interface RepositoryLocksTable {
  /** The name of the repository: `5`, `snippets/31`. */
  repository: string
  /** Identifies this holder; each acquisition has a new token. */
  token: string
  /** The identity of the holder's process. @see process-identity.ts */
  owner: string
  /** Increases regularly while the lock is held. */
  renewals: number
  /** When the lock was taken or last renewed, by the clock of the database; on SQLite by that of the process. */
  renewed_at_ms: number
}

/** The current holder of a lock. The holder is alive as long as `renewals` increases. */
export interface LockHolder {
  readonly token: string
  readonly owner: string
  readonly renewals: number
  readonly renewedAtMs: number
}

type LockContext = Pick<RepositoryContext, 'db' | 'clock'>

const nowMs = async ({ db, clock }: LockContext): Promise<number> => Math.round((await db.nowMs?.()) ?? clock.nowMs())

/**
 * Takes a free lock, or the lock of `former`. If several processes try, only one succeeds.
 *
 * The lock is a row and not a file: when two processes find the lock file of a dead process, one of them could remove
 * the new file of the other. A row changes its holder in one statement that compares the former holder.
 */
export async function tryTakeLock(
  context: LockContext,
  repository: string,
  { token, owner }: Pick<LockHolder, 'token' | 'owner'>,
  former: LockHolder | undefined,
): Promise<boolean> {
  const mine = { token, owner, renewals: 0, renewed_at_ms: await nowMs(context) }
  const taken = await context.db.write((tx) =>
    former === undefined
      ? tx
          .insertInto('repository_locks')
          .values({ repository, ...mine })
          .onConflict((conflict) => conflict.column('repository').doNothing())
          .returning('token')
          .executeTakeFirst()
      : tx
          .updateTable('repository_locks')
          .set(mine)
          .where('repository', '=', repository)
          .where('token', '=', former.token)
          .where('renewals', '=', former.renewals)
          .returning('token')
          .executeTakeFirst(),
  )
  return taken !== undefined
}

export async function findLockHolder(
  { db }: Pick<RepositoryContext, 'db'>,
  repository: string,
): Promise<LockHolder | undefined> {
  return db.read
    .selectFrom('repository_locks')
    .select(['token', 'owner', 'renewals', 'renewed_at_ms as renewedAtMs'])
    .where('repository', '=', repository)
    .executeTakeFirst()
}

/** Returns whether this holder still has the lock. If so, no other process can take it until the transaction ends. */
export async function confirmLock({ db }: { readonly db: Transaction<CoreTables> }, token: string): Promise<boolean> {
  const held = await db
    .updateTable('repository_locks')
    .set((eb) => ({ renewals: eb('renewals', '+', 1) }))
    .where('token', '=', token)
    .returning('token')
    .executeTakeFirst()
  return held !== undefined
}

export async function renewLock(context: LockContext, token: string): Promise<void> {
  const renewed_at_ms = await nowMs(context)
  await context.db.write((tx) =>
    tx
      .updateTable('repository_locks')
      .set((eb) => ({ renewals: eb('renewals', '+', 1), renewed_at_ms }))
      .where('token', '=', token)
      .execute(),
  )
}

/**
 * Returns how long the lease of a holder still lasts: by the clock of the database, so that the clocks of hosts are not compared
 * and the lock of a dead host ends even if no process has waited for it. On SQLite, all processes are on one host with a clock
 * that may jump, so it is the whole lease from now on.
 */
export async function leaseLeftMs({ db }: LockContext, { renewedAtMs }: LockHolder, leaseMs: number): Promise<number> {
  return db.nowMs === undefined ? leaseMs : Math.min(leaseMs, renewedAtMs + leaseMs - (await db.nowMs()))
}

export async function releaseLock(db: Transaction<CoreTables>, token: string): Promise<void> {
  await db.deleteFrom('repository_locks').where('token', '=', token).execute()
}
