import type { Transaction } from 'kysely'
import type { CoreTables } from '../kit/tables.ts'
import type { RepositoryContext } from './repository-context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    repository_sizes: RepositorySizesTable
  }
}

/** The disk space of the repositories that do not count towards the storage of a project. */
interface RepositorySizesTable {
  repository: string
  bytes: number
  measured_at_ms: number
}

interface SizeTx {
  readonly db: Transaction<CoreTables>
  readonly nowMs: number
}

/** Returns the counted bytes of a repository, or `undefined` if it was never measured. */
export async function findRepositoryBytes(
  { db }: Pick<RepositoryContext, 'db'>,
  repository: string,
): Promise<number | undefined> {
  const query = db.read.selectFrom('repository_sizes').select('bytes').where('repository', '=', repository)
  return (await query.executeTakeFirst())?.bytes
}

/** Adds to the counted bytes of a repository, which begin at 0, and returns the new total. */
export async function addRepositoryBytes({ db, nowMs }: SizeTx, repository: string, bytes: number): Promise<number> {
  const row = await db
    .insertInto('repository_sizes')
    .values({ repository, bytes, measured_at_ms: nowMs })
    .onConflict((conflict) =>
      conflict.column('repository').doUpdateSet((eb) => ({ bytes: eb('repository_sizes.bytes', '+', bytes) })),
    )
    .returning('bytes')
    .executeTakeFirstOrThrow()
  return row.bytes
}

/** Replaces the counted bytes of a repository with those measured on the disk. */
export async function setMeasuredBytes({ db, nowMs }: SizeTx, repository: string, bytes: number): Promise<void> {
  const row = { bytes, measured_at_ms: nowMs }
  await db
    .insertInto('repository_sizes')
    .values({ repository, ...row })
    .onConflict((conflict) => conflict.column('repository').doUpdateSet(row))
    .execute()
}

/** Returns the counted bytes of a repository in a transaction; 0 if it was never measured. */
export async function repositoryBytesIn(db: Transaction<CoreTables>, repository: string): Promise<number> {
  const query = db.selectFrom('repository_sizes').select('bytes').where('repository', '=', repository)
  return (await query.executeTakeFirst())?.bytes ?? 0
}

/** Forgets the counted bytes of a repository that does not exist any more, so that the sweep does not look for it. */
export async function deleteRepositoryBytes(db: Transaction<CoreTables>, repository: string): Promise<void> {
  await db.deleteFrom('repository_sizes').where('repository', '=', repository).execute()
}

/** Returns repositories that were last measured at `beforeMs` or earlier, the oldest measurement first. */
export async function repositoriesToMeasure(
  { db }: Pick<RepositoryContext, 'db'>,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<string[]> {
  const rows = await db.read
    .selectFrom('repository_sizes')
    .select('repository')
    .where('measured_at_ms', '<=', beforeMs)
    .orderBy('measured_at_ms')
    .orderBy('repository')
    .limit(limit)
    .execute()
  return rows.map((row) => row.repository)
}
