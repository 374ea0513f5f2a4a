import {
  type ExpressionBuilder,
  type Generated,
  type GeneratedAlways,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely'
import type { Subject } from '../access/subject.ts'
import { lineageOf } from '../groups/group-store.ts'
import { containsWords } from '../kit/contains-text.ts'
import type { Reading, Tx } from '../kit/context.ts'
import { dayAt } from '../kit/day.ts'
import { notFound } from '../kit/domain-error.ts'
import { nextIid } from '../kit/internal-id.ts'
import { type Listing, listingOf } from '../kit/listing.ts'
import { type KeysetColumn, mapPage, type Page, type PageRequest, pageOf } from '../kit/page.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Milestone, MilestoneFields, MilestoneOrder, MilestoneParent, MilestoneState } from './milestone.ts'
import type { MilestoneScope } from './milestone-scope-store.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    milestones: MilestonesTable
  }
}

export interface MilestonesTable {
  id: Generated<number>
  /** One of the two. */
  group_id: number | null
  project_id: number | null
  iid: number
  title: string
  description: string | null
  state: MilestoneState
  start_date: string | null
  due_date: string | null
  /** The due date, or what comes after all of them. */
  due_order: GeneratedAlways<string>
  created_at_ms: number
  updated_at_ms: number
}

/** @throws DomainError `not_found`, also for one of another parent */
export async function getMilestone({ db }: Reading, parent: MilestoneParent, id: number): Promise<Milestone> {
  const row = await db
    .selectFrom('milestones')
    .selectAll()
    .where('id', '=', id)
    .where(parent.kind === 'group' ? 'group_id' : 'project_id', '=', parent.id)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return milestoneOf(row, parent)
}

/** Those of the ids that there are, for what refers to milestones. */
export async function findMilestones({ db }: Reading, ids: readonly number[]): Promise<Map<number, Milestone>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('milestones')
    .selectAll()
    .select(parentPaths)
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.id, milestoneOf(row, parentOf(row))]))
}

export interface MilestoneFilter {
  readonly ids?: readonly number[] | undefined
  readonly iids?: readonly number[] | undefined
  readonly state: MilestoneState | 'all'
  /** Exactly. */
  readonly title?: string | undefined
  /** Words, each of which occurs in the title or the description; `searchTitle`: in the title. In any case of letters. */
  readonly search?: string | undefined
  readonly searchTitle?: string | undefined
  readonly updatedBefore?: number | undefined
  readonly updatedAfter?: number | undefined
  /** `YYYY-MM-DD`, as are the other two. A milestone that lacks the date that one is compared with is left out. */
  readonly containingDate?: string | undefined
  readonly startDate?: string | undefined
  readonly endDate?: string | undefined
}

/** The soonest due first, those without a due date last; of those that are due together, the newest first. */
export async function pageOfMilestones(
  reading: Reading,
  scope: MilestoneScope,
  filter: MilestoneFilter,
  page: PageRequest,
): Promise<Page<Milestone>> {
  const query = reading.db
    .selectFrom('milestones')
    .selectAll()
    .select(parentPaths)
    .where(scope)
    .where((eb) => eb.and(conditionsOf(filter, eb)))
    .orderBy('due_order')
    .orderBy('id', 'desc')
  return mapPage(await pageOf(reading, query, page), (row) => milestoneOf(row, parentOf(row)))
}

interface Ordering {
  readonly orderBy: MilestoneOrder
  readonly sort: 'asc' | 'desc'
}

/** One list for each scope. */
export function milestoneListing(
  reading: Reading,
  scopes: readonly MilestoneScope[],
  filter: MilestoneFilter,
  ordering: Ordering,
): Listing<Milestone> {
  const { rank, value, order } = keysetOf(reading, ordering)
  return listingOf<'milestones', ListedRow, Milestone>(
    reading,
    scopes.map((scope) =>
      reading.db
        .selectFrom('milestones')
        .selectAll()
        .select(parentPaths)
        .select([rank.as('order_rank'), value.as('order_value')])
        .where(scope)
        .where((eb) => eb.and(conditionsOf(filter, eb))),
    ),
    { order, itemsOf: (rows) => rows.map((row) => milestoneOf(row, parentOf(row))) },
  )
}

interface ListedRow extends RowWithPaths {
  readonly order_rank: number
  readonly order_value: unknown
}

function keysetOf({ nowMs }: Reading, { orderBy, sort }: Ordering) {
  const isByDueDate = orderBy === 'due_date' || orderBy === 'expired_last_due_date'
  const dueDate = sort === 'asc' ? sql`due_order` : sql`coalesce(due_date, '')`
  const value = isByDueDate ? dueDate : sql.ref(orderBy === 'created_at' ? 'created_at_ms' : 'updated_at_ms')
  const rank = sql<number>`case when due_date is null then 1 when due_date < ${dayAt(nowMs)} then 2 else 0 end`
  const columns: KeysetColumn<ListedRow>[] = [
    { column: value, key: 'order_value', direction: sort },
    { column: 'milestones.id', key: 'id', direction: isByDueDate ? 'desc' : sort },
  ]
  const ranked: KeysetColumn<ListedRow> = { column: rank, key: 'order_rank', direction: 'asc' }
  return { rank, value, order: orderBy === 'expired_last_due_date' ? [ranked, ...columns] : columns }
}

/** By its key, whosever it is. */
export async function findMilestone(reading: Reading, id: number): Promise<Milestone | undefined> {
  return (await findMilestones(reading, [id])).get(id)
}

function conditionsOf(filter: MilestoneFilter, eb: ExpressionBuilder<CoreTables, 'milestones'>) {
  const { iids, state, title, updatedBefore, updatedAfter, containingDate, startDate, endDate } = filter
  return [
    filter.ids !== undefined && (filter.ids.length === 0 ? sql<SqlBool>`1 = 0` : eb('id', 'in', [...filter.ids])),
    iids !== undefined && iids.length > 0 && eb('iid', 'in', [...iids]),
    state !== 'all' && eb('state', '=', state),
    title !== undefined && eb('title', '=', title),
    ...containsWords(['title', 'description'], filter.search),
    ...containsWords(['title'], filter.searchTitle),
    updatedBefore !== undefined && eb('updated_at_ms', '<=', updatedBefore),
    updatedAfter !== undefined && eb('updated_at_ms', '>=', updatedAfter),
    containingDate !== undefined && eb('start_date', '<=', containingDate),
    containingDate !== undefined && eb('due_date', '>=', containingDate),
    startDate !== undefined && eb('due_date', '>=', startDate),
    endDate !== undefined && eb('start_date', '<=', endDate),
  ].filter((condition) => condition !== false)
}

/** Whether one of the parent, of a group above it or of anything below it has that title. */
export async function isTitleTaken({ db }: Reading, parent: Subject, title: string): Promise<boolean> {
  const row = await db
    .selectFrom('milestones')
    .leftJoin('groups', 'groups.id', 'milestones.group_id')
    .leftJoin('projects', 'projects.id', 'milestones.project_id')
    .select('milestones.id')
    .where('milestones.title', '=', title)
    .where((eb) =>
      eb.or([
        ...parent.groupIds.map((id) => eb('milestones.group_id', '=', id)),
        ...(parent.kind === 'project' ? [eb('milestones.project_id', '=', parent.id)] : []),
        ...(parent.kind === 'group'
          ? [
              eb('groups.lineage', 'like', `${lineageOf(parent.groupIds)}%`),
              eb('projects.lineage', 'like', `${lineageOf(parent.groupIds)}%`),
            ]
          : []),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertMilestone(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  parent: MilestoneParent,
  fields: MilestoneFields,
): Promise<Milestone> {
  const [groupId, projectId] = parent.kind === 'group' ? [parent.id, null] : [null, parent.id]
  const row = await tx.db
    .insertInto('milestones')
    .values({
      group_id: groupId,
      project_id: projectId,
      iid: await nextIid(tx, groupId === null ? { projectId: parent.id } : { groupId }, 'milestones'),
      ...columnsOf(fields),
      state: 'active',
      created_at_ms: tx.nowMs,
      updated_at_ms: tx.nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return milestoneOf(row, parent)
}

export async function updateMilestone(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  milestone: Milestone,
): Promise<Milestone> {
  const row = await db
    .updateTable('milestones')
    .set({ ...columnsOf(milestone), state: milestone.state, updated_at_ms: nowMs })
    .where('id', '=', milestone.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return milestoneOf(row, milestone.parent)
}

/** What had it has none afterwards. */
export async function deleteMilestone({ db }: Pick<Tx, 'db'>, id: number): Promise<void> {
  await db.deleteFrom('milestones').where('id', '=', id).execute()
}

const columnsOf = ({ title, description, startDate, dueDate }: MilestoneFields) => ({
  title,
  description: description ?? null,
  start_date: startDate ?? null,
  due_date: dueDate ?? null,
})

/** Not joins, which the count of a page would have to do too. */
const parentPaths = (eb: ExpressionBuilder<CoreTables, 'milestones'>) =>
  [
    eb.selectFrom('groups').select('full_path').whereRef('groups.id', '=', 'milestones.group_id').as('group_path'),
    eb
      .selectFrom('projects')
      .select('full_path')
      .whereRef('projects.id', '=', 'milestones.project_id')
      .as('project_path'),
  ] as const

type RowWithPaths = Selectable<MilestonesTable> & { group_path: string | null; project_path: string | null }

const parentOf = ({ group_id, group_path, project_id, project_path }: RowWithPaths): MilestoneParent =>
  group_id !== null
    ? { kind: 'group', id: group_id, fullPath: group_path! }
    : { kind: 'project', id: project_id!, fullPath: project_path! }

function milestoneOf(row: Selectable<MilestonesTable>, { kind, id, fullPath }: MilestoneParent): Milestone {
  return {
    id: row.id,
    iid: row.iid,
    parent: { kind, id, fullPath },
    title: row.title,
    description: row.description ?? undefined,
    state: row.state,
    startDate: row.start_date ?? undefined,
    dueDate: row.due_date ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }
}
