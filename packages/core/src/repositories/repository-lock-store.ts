import type { Core } from '../kit/context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    repository_locks: RepositoryLocksTable
  }
}

interface RepositoryLocksTable {
  /** `5`, `snippets/31` */
  repository: string
  /** Of this one holding. */
  token: string
  /** @see process-identity.ts */
  owner: string
  /** Grows while it is held. */
  renewals: number
}

/** What another holds; as long as this changes, it lives. */
export interface Holding {
  readonly token: string
  readonly owner: string
  readonly renewals: number
}

/**
 * Takes the lock, which `former` has held so far if that is given. Of several who try only one succeeds.
 *
 * A row and not a file: two who find a lock file of a dead process cannot both remove and create it without one of them
 * removing the other's; a row changes hands in one statement that says whose it was.
 */
export async function tryTakeLock(
  { db }: Core,
  repository: string,
  mine: Pick<Holding, 'token' | 'owner'>,
  former: Holding | undefined,
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

export async function findHolding({ db }: Core, repository: string): Promise<Holding | undefined> {
  return db.read
    .selectFrom('repository_locks')
    .select(['token', 'owner', 'renewals'])
    .where('repository', '=', repository)
    .executeTakeFirst()
}

export async function renewLock({ db }: Core, token: string): Promise<void> {
  await db.write((tx) =>
    tx
      .updateTable('repository_locks')
      .set((eb) => ({ renewals: eb('renewals', '+', 1) }))
      .where('token', '=', token)
      .execute(),
  )
}

export async function releaseLock({ db }: Core, token: string): Promise<void> {
  await db.write((tx) => tx.deleteFrom('repository_locks').where('token', '=', token).execute())
}
