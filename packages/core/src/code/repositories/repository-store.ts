import { sql, type Transaction } from 'kysely'
import type { CommitHeader } from '../../base/git/git-object.ts'
import type { RefKind } from '../../base/git/git-reference.ts'
import { noCommits, type PushedCommits } from '../../base/git/pushed-commits.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Tx } from '../../base/operations/context.ts'
import { addCommitMentions } from '../mentions/issue-mention-store.ts'
import { issueReferencesIn } from '../mentions/issue-references.ts'
import { recordMergeRequestVersions } from './merge-request-version-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    /** The head commits of branches after the last recorded push. */
    branch_tips: { project_id: number; name: string; sha: string }
  }
}

export interface Push {
  readonly projectId: number
  readonly actorId: number
  readonly kind: RefKind
  readonly name: string
  /** `undefined` if the reference was created; `after` if it was removed. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** The commits that a branch got; none for a tag. */
  readonly pushed?: PushedCommits
}

/**
 * Records a push in the project's row, and its event, in the transaction that moves the reference.
 *
 * @param defaultBranch becomes the project's default branch if it has none, or if the push is the first of the
 *   repository
 * @throws DomainError `not_found` if the project was removed in between
 */
export async function recordPush(
  tx: Tx,
  push: Push,
  defaultBranch?: { readonly name: string; readonly isFirst: boolean },
): Promise<void> {
  const updated = await tx.db
    .updateTable('projects')
    .set({ last_activity_at_ms: tx.nowMs, is_empty: 0 })
    .$if(defaultBranch !== undefined, (query) =>
      query.set({
        default_branch: defaultBranch!.isFirst
          ? defaultBranch!.name
          : sql<string>`coalesce(default_branch, ${defaultBranch!.name})`,
      }),
    )
    .where('id', '=', push.projectId)
    .returning('id')
    .executeTakeFirst()
  if (updated === undefined) throw notFound('Project')
  if (push.kind === 'heads') {
    await setBranchTip(tx.db, push)
    await recordMergeRequestVersions(tx, { projectId: push.projectId, branch: push.name })
    const messages = push.pushed?.commits.map(({ message }) => message) ?? []
    await addCommitMentions(
      tx,
      push.projectId,
      push.name,
      messages.flatMap((message) => issueReferencesIn(message)),
    )
  }
  const { before, after, pushed = noCommits } = push
  const ref = `refs/${push.kind}/${push.name}`
  await tx.recordEvent({
    type: 'repository.pushed',
    objectId: push.projectId,
    projectId: push.projectId,
    actorId: push.actorId,
    details: { ref, before: before ?? null, after: after ?? null },
    push: { ref, before, after, ...pushed },
  })
}

/**
 * Returns the author time of a commit. It is treated as the time of the last change of a branch or tag that refers to the
 * commit.
 */
export const authoredAtMs = ({ author }: Pick<CommitHeader, 'author'>): number => author.atSeconds * 1_000

async function setBranchTip(
  db: Transaction<CoreTables>,
  { projectId, name, after }: Pick<Push, 'projectId' | 'name' | 'after'>,
): Promise<void> {
  if (after === undefined) {
    await db.deleteFrom('branch_tips').where('project_id', '=', projectId).where('name', '=', name).execute()
    return
  }
  await db
    .insertInto('branch_tips')
    .values({ project_id: projectId, name, sha: after })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ sha: after }))
    .execute()
}
