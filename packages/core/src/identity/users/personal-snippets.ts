import { removeRepositories } from '../../base/git/sweep-repositories.ts'
import type { Tx } from '../../base/operations/context.ts'

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
