import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Actor, Reading } from '../kit/context.ts'
import { emptyListing, type Listing, listingOf } from '../kit/listing.ts'
import {
  type KeysetColumn,
  type KeysetPage,
  type KeysetRequest,
  keysetPageOf,
  noKeysetInThisOrder,
  type Page,
  type PageRequest,
  pageOf,
  refOf,
} from '../kit/page.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { DescribedRow } from './description-store.ts'
import { labelPriorityOf } from './issuable-store.ts'
import type { DescribedIssue, Issue, IssueFilter, IssueOrder, IssueState } from './issue.ts'
import { describedIssuesOf, type IssueRow, issuesOf, issueTables, wantedIssues } from './issue-store.ts'

/**
 * Of the issues that the actor may see.
 *
 * @see spec/rest-part2-details.md 8.8
 */
export async function pageOfIssues(
  reading: Reading,
  actor: Actor,
  filter: IssueFilter,
  page: PageRequest,
): Promise<Page<DescribedIssue>> {
  const rows = await pageOf(reading, ordered(describedIssues(reading, actor, filter), filter), page)
  return { ...rows, items: await describedIssuesOf(reading, rows.items) }
}

const keysetColumns: Partial<Record<IssueOrder, keyof IssueRow>> = {
  created_at: 'created_at_ms',
  updated_at: 'updated_at_ms',
  title: 'title',
}

/** @throws DomainError `no_keyset_in_order` for an order whose column may hold nothing */
export async function keysetPageOfIssues(
  reading: Reading,
  actor: Actor,
  filter: IssueFilter,
  page: KeysetRequest,
): Promise<KeysetPage<DescribedIssue>> {
  const key = keysetColumns[filter.orderBy ?? 'created_at']
  if (key === undefined) throw noKeysetInThisOrder()
  const direction = filter.sort ?? 'desc'
  const query: DescribedQuery = describedIssues(reading, actor, filter)
  const rows = await keysetPageOf(query, page, [
    { column: `issues.${key}`, key, direction },
    { column: 'issues.id', key: 'id', direction },
  ])
  return { ...rows, items: await describedIssuesOf(reading, rows.items) }
}

const describedIssues = (reading: Reading, actor: Actor, filter: IssueFilter) =>
  wantedIssues(reading, actor, filter).select('issues.description')

type DescribedQuery = SelectQueryBuilder<CoreTables, 'issues' | 'projects', DescribedRow<IssueRow>>

/** The lists of several filters, which ask for the same order. */
export function issueListing(reading: Reading, actor: Actor, filters: readonly IssueFilter[]): Listing<Issue> {
  if (filters.length === 0) return emptyListing(0)
  const { columns, first, second } = keysetOf(filters[0]!)
  return listingOf<'issues' | 'projects', ListedIssueRow, Issue>(
    reading,
    filters.map((filter) =>
      wantedIssues(reading, actor, filter).select([first.as('order_first'), second.as('order_second')]),
    ),
    { order: columns, itemsOf: (rows) => issuesOf(reading, rows), sums: { weight: sql.ref('issues.weight') } },
  )
}

/** How many of the issues of each project are in which state, as far as the actor may see them and the filter wants. */
export async function issueCountsByProject(
  reading: Reading,
  actor: Actor,
  projectIds: readonly number[],
  filter: IssueFilter,
): Promise<ReadonlyMap<number, IssueCounts>> {
  return issueCountsBy(reading, actor, 'project_id', projectIds, filter)
}

/** The same of the issues of each milestone. */
export async function issueCountsByMilestone(
  reading: Reading,
  actor: Actor,
  milestoneIds: readonly number[],
): Promise<ReadonlyMap<number, IssueCounts>> {
  return issueCountsBy(reading, actor, 'milestone_id', milestoneIds, {})
}

export type IssueCounts = Readonly<Record<IssueState, number>>

/** By the id in the column; what has no issues is left out. */
async function issueCountsBy(
  reading: Reading,
  actor: Actor,
  column: 'project_id' | 'milestone_id',
  ids: readonly number[],
  filter: IssueFilter,
): Promise<ReadonlyMap<number, IssueCounts>> {
  const counts = new Map<number, IssueCounts>()
  if (ids.length === 0) return counts
  const rows = await wantedIssues(reading, actor, filter)
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

interface ListedIssueRow extends IssueRow {
  readonly order_first: unknown
  readonly order_second: unknown
}

/** In either direction what has no value comes last. */
const lastTime = { asc: Number.MAX_SAFE_INTEGER, desc: -1 } as const
const lastDay = { asc: '9999-99-99', desc: '' } as const
const lastWeight = { asc: 2_147_483_648, desc: -1 } as const

const orderValues: Record<IssueOrder, (sort: 'asc' | 'desc') => RawBuilder<unknown>> = {
  created_at: () => sql.ref('issues.created_at_ms'),
  updated_at: () => sql.ref('issues.updated_at_ms'),
  title: () => sql.ref('issues.title'),
  label_priority: () => labelPriorityOf(issueTables),
  due_date: (sort) => sql`coalesce(issues.due_date, ${sql.lit(lastDay[sort])})`,
  weight: (sort) => sql`coalesce(issues.weight, ${sql.lit(lastWeight[sort])})`,
  closed_at: (sort) => sql`coalesce(issues.closed_at_ms, ${sql.lit(lastTime[sort])})`,
  milestone_due: milestoneDue,
  priority: milestoneDue,
  id: () => sql.ref('issues.id'),
}

function milestoneDue(sort: 'asc' | 'desc'): RawBuilder<unknown> {
  return sql`coalesce((select milestones.due_date from milestones where milestones.id = issues.milestone_id),
    ${sql.lit(lastDay[sort])})`
}

/** The order of a list, and what it is by, to be selected under the names that its columns have as keys. */
function keysetOf({ orderBy = 'created_at', sort = orderBy === 'label_priority' ? 'asc' : 'desc' }: IssueFilter) {
  const first = orderValues[orderBy](sort)
  const isByLabels = orderBy === 'label_priority' || orderBy === 'priority'
  const second = orderBy === 'priority' ? labelPriorityOf(issueTables) : sql.ref('issues.id')
  const columns: KeysetColumn<ListedIssueRow>[] = [
    { column: first, key: 'order_first', direction: sort },
    ...(orderBy === 'priority' ? [{ column: second, key: 'order_second', direction: sort } as const] : []),
    { column: 'issues.id', key: 'id', direction: isByLabels ? 'desc' : sort },
  ]
  return { columns, first, second }
}

const ordered = (query: DescribedQuery, filter: IssueFilter) =>
  keysetOf(filter).columns.reduce((sorted, { column, direction }) => sorted.orderBy(refOf(column), direction), query)
