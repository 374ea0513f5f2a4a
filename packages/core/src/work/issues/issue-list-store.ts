import { sql } from 'kysely'
import { emptyListing, type Listing, listingOf } from '../../base/kit/listing.ts'
import {
  type KeysetPage,
  type KeysetRequest,
  keysetPageOf,
  noKeysetInThisOrder,
  orderedBy,
  type Page,
  type PageRequest,
  pageOf,
} from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor } from '../../base/model/user.ts'
import type { DescribedRow } from '../../base/operations/description-store.ts'
import { byColumn, constantOrder, type IssuableOrder, issuableOrderTable, lastDay, orderOf } from './issuable-order.ts'
import {
  type DescribedIssue,
  type Issue,
  type IssueFilter,
  type IssueOrder,
  type IssueState,
  issueSeverities,
} from './issue.ts'
import { describedIssuesOf, type IssueRow, issueQuery, issuesOf, issueTables } from './issue-store.ts'
import { hasClosing, type WithClosing, withClosingCounts } from './mentioned-issues.ts'

/** Returns a page of the issues that the actor may see. */
export async function pageOfIssues(
  context: ReadContext,
  actor: Actor,
  filter: IssueFilter,
  page: PageRequest,
): Promise<Page<DescribedIssue>> {
  const rows = await pageOf(
    context,
    orderedBy(describedIssues(context, actor, filter), issueOrder(filter).columns),
    page,
  )
  return { ...rows, items: await listedIssuesOf(context, actor, rows.items) }
}

/** @throws DomainError `no_keyset_in_order` for an order by a value that may be missing */
export async function keysetPageOfIssues(
  context: ReadContext,
  actor: Actor,
  filter: IssueFilter,
  page: KeysetRequest,
): Promise<KeysetPage<DescribedIssue>> {
  const { columns, values } = issueOrder(filter)
  if (values.length > 0) throw noKeysetInThisOrder()
  const rows = await keysetPageOf(describedIssues(context, actor, filter).select(values), page, columns)
  return { ...rows, items: await listedIssuesOf(context, actor, rows.items) }
}

const describedIssues = (context: ReadContext, actor: Actor, filter: IssueFilter) =>
  issueQuery(context, actor, filter).select(['issues.description', hasClosing])

async function listedIssuesOf(
  context: ReadContext,
  actor: Actor,
  rows: readonly (DescribedRow<IssueRow> & WithClosing)[],
): Promise<DescribedIssue[]> {
  const closed = rows.flatMap(({ id, has_closing }) => (has_closing ? id : []))
  return withClosingCounts(context, actor, await describedIssuesOf(context, rows), closed)
}

/** Returns one list of issues for each filter. All filters must have the same order. */
export function issueListing(
  context: ReadContext,
  actor: Actor,
  filters: readonly IssueFilter[],
): Listing<Issue, 'weight'> {
  if (filters.length === 0) return emptyListing(0)
  const { columns, values } = issueOrder(filters[0]!)
  return listingOf(
    context,
    filters.map((filter) => issueQuery(context, actor, filter).select(values)),
    {
      order: columns,
      itemsOf: (rows: readonly IssueRow[]) => issuesOf(context, rows),
      sums: { weight: sql.ref('issues.weight') },
    },
  )
}

/** Counts the issues that the actor may see and that match the filter, by project and state. */
export async function issueCountsByProject(
  context: ReadContext,
  actor: Actor,
  projectIds: readonly number[],
  filter: IssueFilter,
): Promise<ReadonlyMap<number, IssueCounts>> {
  return issueCountsBy(context, actor, 'project_id', projectIds, filter)
}

/** Counts the issues that the actor may see, by milestone and state. */
export async function issueCountsByMilestone(
  context: ReadContext,
  actor: Actor,
  milestoneIds: readonly number[],
): Promise<ReadonlyMap<number, IssueCounts>> {
  return issueCountsBy(context, actor, 'milestone_id', milestoneIds, {})
}

/** Counts by state the issues that the actor may see and that match the filter. */
export async function countIssues(context: ReadContext, actor: Actor, filter: IssueFilter): Promise<IssueCounts> {
  const rows = await issueQuery(context, actor, filter)
    .clearSelect()
    .select(['issues.state', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy('issues.state')
    .execute()
  return { opened: 0, closed: 0, ...Object.fromEntries(rows.map(({ state, count }) => [state, count])) }
}

export type IssueCounts = Readonly<Record<IssueState, number>>

/** Returns the counts in a map by the id in the column. Ids without issues are missing from it. */
async function issueCountsBy(
  context: ReadContext,
  actor: Actor,
  column: 'project_id' | 'milestone_id',
  ids: readonly number[],
  filter: IssueFilter,
): Promise<ReadonlyMap<number, IssueCounts>> {
  const counts = new Map<number, IssueCounts>()
  if (ids.length === 0) return counts
  const rows = await issueQuery(context, actor, filter)
    .where(`issues.${column}`, 'in', [...ids])
    .clearSelect()
    .select([`issues.${column} as id`, 'issues.state', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy([`issues.${column}`, 'issues.state'])
    .execute()
  for (const { id, state, count } of rows) {
    counts.set(id!, { opened: 0, closed: 0, ...counts.get(id!), [state]: count })
  }
  return counts
}

const severityRank: IssuableOrder['by'][number] = () =>
  sql<number>`case issues.severity ${sql.join(
    issueSeverities.map((severity, rank) => sql`when ${sql.lit(severity)} then ${sql.lit(rank)}`),
    sql` `,
  )} else 0 end`

const lastWeight = { asc: 2_147_483_648, desc: -1 }

const issueOrderTable: Readonly<Record<IssueOrder, IssuableOrder>> = {
  ...issuableOrderTable,
  due_date: byColumn('due_date', lastDay),
  weight: byColumn('weight', lastWeight),
  severity: { by: [severityRank], tieBreak: 'newest_first' },
  escalation_status: constantOrder,
  relative_position: constantOrder,
}

const issueOrder = ({ orderBy = 'created_at', sort }: IssueFilter) =>
  orderOf(issueTables, issueOrderTable, { orderBy, sort })
