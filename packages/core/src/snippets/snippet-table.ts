import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { RepositoryKey } from '../git/repository-key.ts'
import { removeRepositories } from '../git/sweep-repositories.ts'
import type { ColumnsOf } from '../kit/field-table.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Tx } from '../operations/context.ts'
import type { describedSnippetFields } from './snippet.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    snippets: SnippetsTable
  }
}

export interface SnippetsTable extends ColumnsOf<typeof describedSnippetFields> {}

/** Returns the repositories of the snippets of projects, in the transaction that deletes the projects. */
export async function repositoriesOfSnippets(
  { db }: Pick<Tx, 'db'>,
  projects: (eb: ExpressionBuilder<CoreTables, 'projects'>) => Expression<SqlBool>,
): Promise<RepositoryKey[]> {
  const rows = await db
    .selectFrom('snippets')
    .select('snippets.id')
    .where('snippets.project_id', 'in', (eb) => eb.selectFrom('projects').select('projects.id').where(projects))
    .execute()
  return rows.map(({ id }) => ({ kind: 'snippet', id }))
}

/** Deletes the personal snippets of a user with their repositories. */
export async function removePersonalSnippets(
  tx: Pick<Tx, 'db' | 'nowMs' | 'afterCommit'>,
  authorId: number,
): Promise<void> {
  const rows = await tx.db
    .deleteFrom('snippets')
    .where('author_id', '=', authorId)
    .where('project_id', 'is', null)
    .returning('id')
    .execute()
  await removeRepositories(
    tx,
    rows.map(({ id }) => ({ kind: 'snippet', id })),
  )
}
