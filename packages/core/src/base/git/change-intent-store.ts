import type { Transaction } from 'kysely'
import { DomainError } from '../kit/domain-error.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { ReferenceMove } from './reference-move.ts'
import type { RepositoryContext } from './repository-context.ts'
import { confirmLock } from './repository-lock-store.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    repository_changes: RepositoryChangesTable
  }
}

/**
 * The change that is being made to a repository. The row is written before the references move, and deleted by the
 * transaction that stores the rows of the change, so its presence means that the change has to be undone.
 */
interface RepositoryChangesTable {
  repository: string
  /** The token of the lock under which the change is made. */
  token: string
  /** 1 if the change creates the repository. */
  creates: number
  /** The directory of the repository. That of a new one is known only here until the change is complete. */
  directory: string
  /** The moves as JSON. */
  moves: string
}

interface ChangeIntent {
  readonly creates: boolean
  readonly directory: string
  readonly moves: readonly ReferenceMove[]
}

/**
 * Records what a change is going to do, replacing an earlier intent of the same change.
 *
 * @throws DomainError `conflict` if the caller no longer holds the lock
 */
export async function recordIntent(
  { db }: Pick<RepositoryContext, 'db'>,
  repository: string,
  token: string,
  { creates, directory, moves }: ChangeIntent,
): Promise<void> {
  const row = { token, creates: creates ? 1 : 0, directory, moves: JSON.stringify(moves) }
  await db.write(async (tx) => {
    // A holder that lost the lock without noticing must not leave an intent, because later changes would be undone.
    if (!(await confirmLock({ db: tx }, token))) throw new DomainError({ code: 'conflict' })
    await tx
      .insertInto('repository_changes')
      .values({ repository, ...row })
      .onConflict((conflict) => conflict.column('repository').doUpdateSet(row))
      .execute()
  })
}

/**
 * Deletes the intent of a change, in the transaction that stores its rows.
 *
 * @throws DomainError `conflict` if the next holder of the lock has undone the change already
 */
export async function completeIntent(db: Transaction<CoreTables>, repository: string, token: string): Promise<void> {
  const completed = await db
    .deleteFrom('repository_changes')
    .where('repository', '=', repository)
    .where('token', '=', token)
    .returning('repository')
    .executeTakeFirst()
  if (completed === undefined) throw new DomainError({ code: 'conflict' })
}

/**
 * Deletes and returns the intent of an unfinished change, in the transaction that undoes it.
 *
 * @param token that of the change; missing: any
 */
export async function takeIntent(
  db: Transaction<CoreTables>,
  repository: string,
  token?: string,
): Promise<ChangeIntent | undefined> {
  const row = await db
    .deleteFrom('repository_changes')
    .where('repository', '=', repository)
    .$if(token !== undefined, (query) => query.where('token', '=', token!))
    .returning(['creates', 'directory', 'moves'])
    .executeTakeFirst()
  return row && { creates: row.creates === 1, directory: row.directory, moves: JSON.parse(row.moves) }
}

/** Returns the directory of the unfinished change of a repository, or `undefined` if there is none. */
export async function findIntentDirectory(
  { db }: Pick<RepositoryContext, 'db'>,
  repository: string,
): Promise<string | undefined> {
  const query = db.read.selectFrom('repository_changes').select('directory').where('repository', '=', repository)
  return (await query.executeTakeFirst())?.directory
}

/** Lists repositories with an unfinished change, ordered by name, starting after `last`. */
export async function listUnfinished(
  { db }: Pick<RepositoryContext, 'db'>,
  last: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.read
    .selectFrom('repository_changes')
    .select('repository')
    .where('repository', '>', last)
    .orderBy('repository')
    .limit(limit)
    .execute()
  return rows.map((row) => row.repository)
}
