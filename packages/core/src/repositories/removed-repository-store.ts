import type { Core, Tx } from '../kit/context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    removed_repositories: RemovedRepositoriesTable
  }
}

interface RemovedRepositoriesTable {
  repository: string
  removed_at_ms: number
  /** Its files are gone too. */
  is_swept: number
}

/** Parameters of one statement; SQLite takes 32,766, PostgreSQL 65,535. */
const ROWS_AT_ONCE = 1_000

/** In the transaction in which that to which it belongs ends. */
export async function insertRemovedRepositories(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  names: readonly string[],
): Promise<void> {
  for (let at = 0; at < names.length; at += ROWS_AT_ONCE) {
    const rows = names.slice(at, at + ROWS_AT_ONCE)
    await db
      .insertInto('removed_repositories')
      .values(rows.map((repository) => ({ repository, removed_at_ms: nowMs, is_swept: 0 })))
      .onConflict((conflict) => conflict.column('repository').doNothing())
      .execute()
  }
}

export async function isRemoved({ db }: Core, repository: string): Promise<boolean> {
  const query = db.read.selectFrom('removed_repositories').select('repository').where('repository', '=', repository)
  return (await query.executeTakeFirst()) !== undefined
}

/** Those after `last`, by name, whose files are still to be removed. */
export async function unsweptRepositories({ db }: Core, last: string, most: number): Promise<string[]> {
  const rows = await db.read
    .selectFrom('removed_repositories')
    .select('repository')
    .where('is_swept', '=', 0)
    .where('repository', '>', last)
    .orderBy('repository')
    .limit(most)
    .execute()
  return rows.map((row) => row.repository)
}

/** With it, those that were removed before `forgetMs` are forgotten. */
export async function setSwept({ db }: Core, repository: string, forgetMs: number): Promise<void> {
  await db.write(async (tx) => {
    await tx.updateTable('removed_repositories').set({ is_swept: 1 }).where('repository', '=', repository).execute()
    await tx
      .deleteFrom('removed_repositories')
      .where('is_swept', '=', 1)
      .where('removed_at_ms', '<', forgetMs)
      .execute()
  })
}
