import { sql } from 'kysely'
import { repositoryNameOf } from '../../base/git/repository-key.ts'
import { repositoryBytesIn } from '../../base/git/repository-size-store.ts'
import type { RepositoryStorage } from '../../base/git/repository-storage.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { Core, OperationContext, Tx } from '../../base/operations/context.ts'
import { chargeStorage } from '../../identity/projects/storage-store.ts'
import { type OwnRepository, openOwnStorage } from '../repositories/repository-storage.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    personal_snippet_storage: PersonalSnippetStorageTable
  }
}

/** The bytes of the repositories of each user's personal snippets. */
interface PersonalSnippetStorageTable {
  user_id: number
  bytes: number
}

/** The project of a snippet, or the author of a personal one. Each has a limit for all of its snippets together. */
export type SnippetOwner = { readonly projectId: number } | { readonly userId: number }

interface OpenedSnippet extends Omit<OwnRepository, 'key'> {
  readonly id: number
  readonly owner: SnippetOwner
}

/** Opens the storage of a snippet: within its own limit and within that of its owner. */
export async function openSnippetStorage(
  core: Core,
  { id, owner, ...repository }: OpenedSnippet,
): Promise<RepositoryStorage> {
  const own = await openOwnStorage(core, { key: { kind: 'snippet', id }, ...repository })
  return {
    requireRoom: own.requireRoom,
    charge: async (db, growth) => {
      await own.charge(db, growth)
      await chargeOwner({ db }, core, owner, growth)
    },
  }
}

/** Subtracts the bytes of a snippet from those of its owner, in the transaction that deletes the snippet. */
export async function releaseSnippetStorage(
  tx: Pick<Tx, 'db'> & Pick<OperationContext, 'core'>,
  id: number,
  owner: SnippetOwner,
): Promise<void> {
  const bytes = await repositoryBytesIn(tx.db, repositoryNameOf({ kind: 'snippet', id }))
  await chargeOwner(tx, tx.core, owner, -bytes)
}

/** @throws DomainError `storage_full` */
async function chargeOwner(tx: Pick<Tx, 'db'>, core: Core, owner: SnippetOwner, growth: number): Promise<void> {
  if (growth === 0) return
  if ('projectId' in owner) return chargeStorage(tx, core, owner.projectId, { snippetsBytes: growth })
  const { db } = tx
  const { userId } = owner
  await db
    .insertInto('personal_snippet_storage')
    .values({ user_id: userId, bytes: 0 })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute()
  const { bytes } = await db
    .updateTable('personal_snippet_storage')
    // A repository that was measured since may be larger than what was counted for it.
    .set({ bytes: sql<number>`case when bytes + ${sql.lit(growth)} < 0 then 0 else bytes + ${sql.lit(growth)} end` })
    .where('user_id', '=', userId)
    .returning('bytes')
    .executeTakeFirstOrThrow()
  const limitBytes = core.settings.projectStorageBytes
  if (growth < 0 || limitBytes === 0 || bytes <= limitBytes) return
  const storedBytes = bytes - growth
  throw new DomainError({ code: 'storage_full', of: 'user', limitBytes, storedBytes, neededBytes: growth })
}
