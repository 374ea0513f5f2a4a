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
}

/** The current holder of a lock. The holder is alive as long as `renewals` increases. */
export interface LockHolder {
  readonly token: string
  readonly owner: string
  readonly renewals: number
}

/**
 * Takes a free lock, or the lock of `former`. If several processes try, only one succeeds.
 *
 * The lock is a row and not a file: when two processes find the lock file of a dead process, one of them could remove
 * the new file of the other. A row changes its holder in one statement that compares the former holder.
 */
export async function tryTakeLock(
  { db }: Pick<RepositoryContext, 'db'>,
  repository: string,
  mine: Pick<LockHolder, 'token' | 'owner'>,
  former: LockHolder | undefined,
): Promise<boolean> {
  const taken = await db.write((tx) =>
    former === undefined
      ? tx
          .insertInto('repository_locks')
          .values({ repository, ...mine, renewals: 0 })
          .onConflict((conflict) => conflict.column('repository').doNothing())
          .returning('token')
          .executeTakeFirst()
      : tx
          .updateTable('repository_locks')
          .set({ ...mine, renewals: 0 })
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
    .select(['token', 'owner', 'renewals'])
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

export async function renewLock({ db }: Pick<RepositoryContext, 'db'>, token: string): Promise<void> {
  await db.write((tx) => confirmLock({ db: tx }, token))
}

export async function releaseLock(db: Transaction<CoreTables>, token: string): Promise<void> {
  await db.deleteFrom('repository_locks').where('token', '=', token).execute()
}
