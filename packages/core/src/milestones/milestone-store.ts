import type { ExpressionBuilder, Generated, GeneratedAlways, Selectable } from 'kysely'
import type { Subject } from '../access/subject.ts'
import { lineageOf } from '../groups/group-store.ts'
import { containsWords } from '../kit/contains-text.ts'
import type { Reading, Tx } from '../kit/context.ts'
import { notFound } from '../kit/domain-error.ts'
import { nextIid } from '../kit/internal-id.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../kit/page.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Milestone, MilestoneFields, MilestoneParent, MilestoneState } from './milestone.ts'
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

function conditionsOf(filter: MilestoneFilter, eb: ExpressionBuilder<CoreTables, 'milestones'>) {
  const { iids, state, title, updatedBefore, updatedAfter, containingDate, startDate, endDate } = filter
  return [
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
