import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { RepositoryKey } from '../../base/git/repository-key.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Tx } from '../../base/operations/context.ts'

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
