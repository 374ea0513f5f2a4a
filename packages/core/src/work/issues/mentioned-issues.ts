import { Lookup } from '@penstock/db'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { allowedInProject } from '../../base/access/visible-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor } from '../../base/model/user.ts'
import type { Issue, IssueFilter } from './issue.ts'

/** Returns the condition, for a query over `issues`, that a merge request mentions the issue. */
export const isMentionedBy = ({ id, onlyClosing }: NonNullable<IssueFilter['mentionedBy']>): RawBuilder<SqlBool> =>
  sql`issues.id in (select issue_id from issue_mentions
    where merge_request_id = ${id} ${onlyClosing ? sql`and is_closing = 1` : sql``})`

/** Returns the condition, for a query over `merge_requests`, that the merge request mentions an issue. */
export const mentionsIssue = (id: number, { onlyClosing = false } = {}): RawBuilder<SqlBool> =>
  sql`merge_requests.id in (select merge_request_id from issue_mentions
    where issue_id = ${id} ${onlyClosing ? sql`and is_closing = 1` : sql``})`

export interface WithClosing {
  readonly id: number
  readonly has_closing: number | boolean
}

/** The column, for a query over `issues`, that shows whether some merge request closes the issue. */
export const hasClosing = sql<WithClosing['has_closing']>`exists (select 1 from issue_mentions
  where issue_mentions.issue_id = issues.id and issue_mentions.is_closing = 1)`.as('has_closing')

/**
 * Adds to each issue the number of merge requests that close it, as far as the actor may see them.
 *
 * @param closed the ids of the issues that some merge request closes
 */
export async function withClosingCounts<Item extends Pick<Issue, 'id'>>(
  context: ReadContext,
  actor: Actor,
  issues: readonly Item[],
  closed: readonly number[],
): Promise<(Item & Pick<Issue, 'closingCount'>)[]> {
  // Most lists have none. Building the condition on what the actor may see takes longer than finding that out.
  const counts = closed.length === 0 ? noCounts : await closingCountsOf(context, actor, closed)
  return issues.map((issue) => ({ ...issue, closingCount: counts.get(issue.id) ?? 0 }))
}

const noCounts: ReadonlyMap<number, number> = new Map()

/** Returns whether some merge request closes the issue. */
export async function isClosedBySome({ db }: ReadContext, { id }: Pick<Issue, 'id'>): Promise<boolean> {
  const row = await closingMention.run(db, id)
  return row !== undefined
}

const closingMention = new Lookup((db: ReadContext['db'], issueId: number) =>
  db
    .selectFrom('issue_mentions')
    .select('issue_id')
    .where('issue_id', '=', issueId)
    .where('is_closing', '=', 1)
    .limit(1),
)

async function closingCountsOf(
  context: ReadContext,
  actor: Actor,
  issueIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await context.db
    .selectFrom('issue_mentions')
    .innerJoin('merge_requests', 'merge_requests.id', 'issue_mentions.merge_request_id')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(({ fn }) => [
      'issue_mentions.issue_id',
      fn.count<number>('issue_mentions.merge_request_id').distinct().as('count'),
    ])
    .where('issue_mentions.issue_id', 'in', [...issueIds])
    .where('issue_mentions.is_closing', '=', 1)
    .whereRef('merge_requests.target_branch', '=', 'projects.default_branch')
    .where(allowedInProject(context, actor, 'read_merge_request'))
    .groupBy('issue_mentions.issue_id')
    .execute()
  return new Map(rows.map(({ issue_id, count }) => [issue_id, Number(count)]))
}
