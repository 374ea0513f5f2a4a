import type { WriteContext } from '../kit/store-context.ts'
import type { RepositoryContext } from './repository-context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    removed_repositories: RemovedRepositoriesTable
  }
}

interface RemovedRepositoriesTable {
  repository: string
  removed_at_ms: number
  /** 1 once its files have been removed. */
  is_swept: number
}

/** Limits the parameters of one statement: SQLite accepts 32,766, PostgreSQL 65,535. */
const ROWS_PER_STATEMENT = 1_000

/** Marks repositories as removed, in the transaction that deletes their projects. */
export async function insertRemovedRepositories({ db, nowMs }: WriteContext, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += ROWS_PER_STATEMENT) {
    const rows = names.slice(at, at + ROWS_PER_STATEMENT)
    await db
      .insertInto('removed_repositories')
      .values(rows.map((repository) => ({ repository, removed_at_ms: nowMs, is_swept: 0 })))
      .onConflict((conflict) => conflict.column('repository').doNothing())
      .execute()
  }
}

export async function isRemoved({ db }: Pick<RepositoryContext, 'db'>, repository: string): Promise<boolean> {
  const query = db.read.selectFrom('removed_repositories').select('repository').where('repository', '=', repository)
  return (await query.executeTakeFirst()) !== undefined
}

/** Lists removed repositories with remaining files, ordered by name, starting after `last`. */
export async function listUnsweptRepositories(
  { db }: Pick<RepositoryContext, 'db'>,
  last: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.read
    .selectFrom('removed_repositories')
    .select('repository')
    .where('is_swept', '=', 0)
    .where('repository', '>', last)
    .orderBy('repository')
    .limit(limit)
    .execute()
  return rows.map((row) => row.repository)
}

/**
 * Marks a removed repository as swept, and deletes its rows in other tables. Also deletes the rows of all swept
 * repositories that were removed before `deleteBeforeMs`.
 */
export async function setSwept(
  { db }: Pick<RepositoryContext, 'db'>,
  repository: string,
  deleteBeforeMs: number,
): Promise<void> {
  await db.write(async (tx) => {
    for (const table of ['repository_changes', 'repository_sizes', 'repository_directories'] as const)
      await tx.deleteFrom(table).where('repository', '=', repository).execute()
    await tx.updateTable('removed_repositories').set({ is_swept: 1 }).where('repository', '=', repository).execute()
    await tx
      .deleteFrom('removed_repositories')
      .where('is_swept', '=', 1)
      .where('removed_at_ms', '<', deleteBeforeMs)
      .execute()
  })
}
