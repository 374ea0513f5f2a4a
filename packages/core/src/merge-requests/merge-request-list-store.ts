import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { allowedInProject } from '../access/visible-store.ts'
import { type DescribedRow, described } from '../issues/description-store.ts'
import {
  conditionsOf,
  issuablesOf,
  labelPriorityOf,
  peopleCondition,
  personCondition,
  userIdsByItem,
} from '../issues/issuable-store.ts'
import type { Actor, Reading } from '../kit/context.ts'
import { type Listing, listingOf } from '../kit/listing.ts'
import { type KeysetColumn, type Page, type PageRequest, pageOf, refOf } from '../kit/page.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { DescribedMergeRequest, MergeRequest, MergeRequestFilter, MergeRequestState } from './merge-request.ts'
import { listedColumns, type MergeRequestRow, mergeRequestTables } from './merge-request-store.ts'

/**
 * Of the merge requests that the actor may see.
 *
 * @see spec/rest-part2-details.md 8.9
 */
export async function pageOfMergeRequests(
  reading: Reading,
  actor: Actor,
  filter: MergeRequestFilter,
  page: PageRequest,
): Promise<Page<DescribedMergeRequest>> {
  const wanted = wantedMergeRequests(reading, actor, filter).select('merge_requests.description')
  const rows = await pageOf(reading, ordered(wanted, filter), page)
  return { ...rows, items: described(await mergeRequestsOf(reading, rows.items), rows.items) }
}

/** By its number in its project, if the actor may see it. */
export async function findMergeRequest(
  reading: Reading,
  actor: Actor,
  projectId: number,
  iid: number,
): Promise<DescribedMergeRequest | undefined> {
  const rows = await wantedMergeRequests(reading, actor, { within: { projectId }, iids: [iid] })
    .select('merge_requests.description')
    .execute()
  const [mergeRequest] = described(await mergeRequestsOf(reading, rows), rows)
  return mergeRequest
}

/** Those of the ids that the actor may see. */
export async function findMergeRequestsById(
  reading: Reading,
  actor: Actor,
  ids: readonly number[],
): Promise<ReadonlyMap<number, MergeRequest>> {
  if (ids.length === 0) return new Map()
  const rows = await wantedMergeRequests(reading, actor, {})
    .where('merge_requests.id', 'in', [...new Set(ids)])
    .execute()
  return new Map((await mergeRequestsOf(reading, rows)).map((mergeRequest) => [mergeRequest.id, mergeRequest]))
}

/** Those that the actor may see, as a query over `merge_requests` and `projects`. */
function wantedMergeRequests(reading: Reading, actor: Actor, filter: MergeRequestFilter) {
  const { state = 'all', draft, sourceBranch, targetBranch, assigneeUsername, reviewerId, reviewerUsername } = filter
  const isAssigned = (username: string) =>
    personCondition(mergeRequestTables, 'merge_request_assignees', { usernames: [username] })
  const reviews = (who: Parameters<typeof personCondition>[2]) =>
    personCondition(mergeRequestTables, 'merge_request_reviewers', who)
  return reading.db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select(listedColumns)
    .leftJoin('branch_tips', (join) =>
      join
        .onRef('branch_tips.project_id', '=', 'merge_requests.project_id')
        .onRef('branch_tips.name', '=', 'merge_requests.source_branch'),
    )
    .select(['projects.full_path as project_path', 'branch_tips.sha'])
    .where((eb) => eb.and(conditionsOf(reading, mergeRequestTables, filter)))
    .where((eb) => eb.and(moreConditions(filter)))
    .where(allowedInProject(reading, actor, 'read_merge_request'))
    .$if(state !== 'all', (all) => all.where('merge_requests.state', '=', state as MergeRequestState))
    .$if(draft !== undefined, (all) => all.where('merge_requests.is_draft', '=', Number(draft)))
    .$if(sourceBranch !== undefined, (all) => all.where('merge_requests.source_branch', '=', sourceBranch!))
    .$if(targetBranch !== undefined, (all) => all.where('merge_requests.target_branch', '=', targetBranch!))
    .$if(assigneeUsername !== undefined, (all) => all.where(isAssigned(assigneeUsername!)))
    .$if(reviewerId !== undefined, (all) => all.where(reviews(reviewerId!)))
    .$if(reviewerUsername !== undefined, (all) => all.where(reviews({ usernames: [reviewerUsername!] })))
}

/** What only lists for many parents ask for. */
function moreConditions({ not = {}, or = {}, ...filter }: MergeRequestFilter): RawBuilder<SqlBool>[] {
  const { sourceBranches, targetBranches, mergedByUsername, mergedAfter, mergedBefore } = filter
  const column = (name: keyof MergeRequestRow) => sql.ref(`merge_requests.${name}`)
  const isAmong = (name: keyof MergeRequestRow, values: readonly string[]) =>
    values.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`${column(name)} in (${sql.join([...values])})`
  const reviews = (username: string) =>
    personCondition(mergeRequestTables, 'merge_request_reviewers', { usernames: [username] })
  return [
    peopleCondition(mergeRequestTables, 'merge_request_assignees', filter.assigneeUsernames ?? []),
    sourceBranches !== undefined && isAmong('source_branch', sourceBranches),
    targetBranches !== undefined && isAmong('target_branch', targetBranches),
    mergedByUsername !== undefined &&
      sql<SqlBool>`${column('merged_by_id')} in (select id from users where lower(username) = lower(${mergedByUsername}))`,
    mergedAfter !== undefined && sql<SqlBool>`${column('merged_at_ms')} >= ${mergedAfter}`,
    mergedBefore !== undefined && sql<SqlBool>`${column('merged_at_ms')} <= ${mergedBefore}`,
    not.reviewerUsername !== undefined && sql<SqlBool>`not ${reviews(not.reviewerUsername)}`,
    not.sourceBranches !== undefined && sql<SqlBool>`not ${isAmong('source_branch', not.sourceBranches)}`,
    not.targetBranches !== undefined && sql<SqlBool>`not ${isAmong('target_branch', not.targetBranches)}`,
    anyOf([
      or.reviewers !== undefined && personCondition(mergeRequestTables, 'merge_request_reviewers', or.reviewers),
      or.onlyReviewerUsername !== undefined &&
        sql<SqlBool>`(${reviews(or.onlyReviewerUsername)} and (select count(*) from merge_request_reviewers as pairs
          where pairs.merge_request_id = ${column('id')}) = 1)`,
    ]),
  ].filter((condition) => condition !== false)
}

function anyOf(conditions: readonly (RawBuilder<SqlBool> | false)[]): RawBuilder<SqlBool> | false {
  const given = conditions.filter((condition) => condition !== false)
  return given.length > 0 && sql<SqlBool>`(${sql.join(given, sql` or `)})`
}

type MergeRequestQuery = SelectQueryBuilder<CoreTables, 'merge_requests' | 'projects', MergeRequestRow>
type Order = readonly KeysetColumn<MergeRequestRow & SortValues>[]
/** What of an order is no column of the table. */
interface SortValues {
  readonly first_value: string | number
  readonly second_value: string | number
}

/** Total. The columns that are expressions must be selected, for cursors. */
function orderOf({ orderBy = 'created_at', sort }: MergeRequestFilter): Order {
  const direction = sort ?? (orderBy === 'label_priority' ? 'asc' : 'desc')
  const id = (way: 'asc' | 'desc') => ({ column: 'merge_requests.id', key: 'id', direction: way }) as const
  const first = (column: RawBuilder<unknown>) => ({ column, key: 'first_value', direction }) as const
  const labelPriority = { column: labelPriorityOf(mergeRequestTables), direction } as const
  switch (orderBy) {
    case 'created_at':
    case 'updated_at':
      return [{ column: `merge_requests.${orderBy}_ms`, key: `${orderBy}_ms`, direction }, id(direction)]
    case 'title':
      return [{ column: 'merge_requests.title', key: 'title', direction }, id(direction)]
    case 'merged_at':
    case 'closed_at':
      return [first(orLast(sql.ref(`merge_requests.${orderBy}_ms`), direction, timeBounds)), id(direction)]
    case 'milestone_due':
      return [first(orLast(milestoneDue, direction, dayBounds)), id('desc')]
    case 'label_priority':
      return [{ ...labelPriority, key: 'first_value' }, id('desc')]
    case 'priority':
      return [first(orLast(milestoneDue, direction, dayBounds)), { ...labelPriority, key: 'second_value' }, id('desc')]
    case 'popularity':
      return [id('desc')]
  }
}

const milestoneDue = sql`(select due_date from milestones where milestones.id = merge_requests.milestone_id)`

/** What comes after every value, ascending and descending. */
const timeBounds = { asc: sql.lit(Number.MAX_SAFE_INTEGER), desc: sql.lit(-1) }
const dayBounds = { asc: sql.lit('9999-99'), desc: sql.lit('') }

const orLast = (
  value: RawBuilder<unknown>,
  direction: 'asc' | 'desc',
  bounds: Record<'asc' | 'desc', RawBuilder<unknown>>,
) => sql<string | number>`coalesce(${value}, ${bounds[direction]})`

type DescribedQuery = SelectQueryBuilder<CoreTables, 'merge_requests' | 'projects', DescribedRow<MergeRequestRow>>

const ordered = (query: DescribedQuery, filter: MergeRequestFilter): DescribedQuery =>
  orderOf(filter).reduce((sorted, { column, direction }) => sorted.orderBy(refOf(column), direction), query)

/** Of those that have been merged. */
const sums = { msToMerge: sql`merge_requests.merged_at_ms - merge_requests.created_at_ms` }

/** Those of each filter; all filters have the same order. */
export function mergeRequestListing(
  reading: Reading,
  actor: Actor,
  filters: readonly MergeRequestFilter[],
): Listing<MergeRequest> {
  const order = orderOf(filters[0] ?? {})
  const queries = filters.map((filter) => wantedMergeRequests(reading, actor, filter))
  return listingOf<'merge_requests' | 'projects', MergeRequestRow & SortValues, MergeRequest>(
    reading,
    queries.map((query) =>
      order.reduce<MergeRequestQuery>(
        (selected, { column, key }) =>
          typeof column === 'string' ? selected : (selected.select(column.as(key)) as MergeRequestQuery),
        query,
      ),
    ) as never,
    { order, itemsOf: (rows) => mergeRequestsOf(reading, rows), sums },
  )
}

async function mergeRequestsOf(reading: Reading, rows: readonly MergeRequestRow[]): Promise<MergeRequest[]> {
  const ids = rows.map((row) => row.id)
  const reviewers = await userIdsByItem(reading, mergeRequestTables, 'merge_request_reviewers', ids)
  const otherIds = [...rows.map((row) => row.merged_by_id), ...[...reviewers.values()].flat()]
  const { of, users } = await issuablesOf(reading, mergeRequestTables, rows, otherIds)
  return rows.map((row) => ({
    ...of(row),
    isDraft: row.is_draft === 1,
    state: row.state,
    sourceBranch: row.source_branch,
    targetBranch: row.target_branch,
    sha: row.sha ?? undefined,
    reviewers: (reviewers.get(row.id) ?? []).map((id) => users.get(id)!),
    isSquashed: row.is_squashed === 1,
    removesSourceBranch: row.removes_source_branch === null ? undefined : row.removes_source_branch === 1,
    mergedBy: users.get(row.merged_by_id ?? 0),
    mergedAtMs: row.merged_at_ms ?? undefined,
  }))
}
