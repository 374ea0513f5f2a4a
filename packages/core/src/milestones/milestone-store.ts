import type { ExpressionBuilder, Generated, GeneratedAlways, Selectable } from 'kysely'
import type { Subject } from '../access/subject.ts'
import { lineageOf } from '../groups/group-store.ts'
import { notFound } from '../kit/domain-error.ts'
import { nextIid } from '../kit/internal-id.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Tx } from '../operations/context.ts'
import type { DescribedRow } from '../operations/description-store.ts'
import type { DescribedMilestone, Milestone, MilestoneFields, MilestoneParent, MilestoneState } from './milestone.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    milestones: MilestonesTable
  }
}

export interface MilestonesTable {
  id: Generated<number>
  /** Exactly one of `group_id` and `project_id` is set. */
  group_id: number | null
  project_id: number | null
  iid: number
  title: string
  description: string | null
  state: MilestoneState
  start_date: string | null
  due_date: string | null
  /** The due date, or a value that sorts after all dates. */
  due_order: GeneratedAlways<string>
  created_at_ms: number
  updated_at_ms: number
}

/** Every column but the description. */
export const listedColumns = [
  'milestones.id',
  'milestones.group_id',
  'milestones.project_id',
  'milestones.iid',
  'milestones.title',
  'milestones.state',
  'milestones.start_date',
  'milestones.due_date',
  'milestones.due_order',
  'milestones.created_at_ms',
  'milestones.updated_at_ms',
] as const

type MilestoneRow = Omit<Selectable<MilestonesTable>, 'description'>

/** @throws DomainError `not_found`, also for a milestone of another parent */
export async function getMilestone(
  { db }: ReadContext,
  parent: MilestoneParent,
  id: number,
): Promise<DescribedMilestone> {
  const row = await db
    .selectFrom('milestones')
    .selectAll()
    .where('id', '=', id)
    .where(parent.kind === 'group' ? 'group_id' : 'project_id', '=', parent.id)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return describedMilestoneOf(row, parent)
}

/** Returns the existing milestones with these ids, by id. */
export async function findMilestones({ db }: ReadContext, ids: readonly number[]): Promise<Map<number, Milestone>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('milestones')
    .select(listedColumns)
    .select(parentPaths)
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.id, milestoneOf(row, parentOf(row))]))
}

/** Returns the milestones with their descriptions, by id. */
export async function describedMilestones(
  { db }: ReadContext,
  milestones: readonly Milestone[],
): Promise<ReadonlyMap<number, DescribedMilestone>> {
  if (milestones.length === 0) return new Map()
  const ids = milestones.map(({ id }) => id)
  const rows = await db.selectFrom('milestones').select(['id', 'description']).where('id', 'in', ids).execute()
  const descriptions = new Map(rows.map(({ id, description }) => [id, description ?? undefined]))
  return new Map(
    milestones.map((milestone) => [milestone.id, { ...milestone, description: descriptions.get(milestone.id) }]),
  )
}

/** Returns the milestone with this id, of any parent. */
export async function findMilestone(context: ReadContext, id: number): Promise<Milestone | undefined> {
  return (await findMilestones(context, [id])).get(id)
}

/** Returns whether the parent, a group above it, or a group or project below it has a milestone with this title. */
export async function isTitleTaken({ db }: ReadContext, parent: Subject, title: string): Promise<boolean> {
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
): Promise<DescribedMilestone> {
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
  return describedMilestoneOf(row, parent)
}

export async function updateMilestone(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  milestone: DescribedMilestone,
): Promise<DescribedMilestone> {
  const row = await db
    .updateTable('milestones')
    .set({ ...columnsOf(milestone), state: milestone.state, updated_at_ms: nowMs })
    .where('id', '=', milestone.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return describedMilestoneOf(row, milestone.parent)
}

/** Deletes a milestone. Issues and merge requests that referred to it have no milestone afterwards. */
export async function deleteMilestone({ db }: Pick<Tx, 'db'>, id: number): Promise<void> {
  await db.deleteFrom('milestones').where('id', '=', id).execute()
}

const columnsOf = ({ title, description, startDate, dueDate }: MilestoneFields) => ({
  title,
  description: description ?? null,
  start_date: startDate ?? null,
  due_date: dueDate ?? null,
})

/** Selects the parent's path with subqueries, because the query that counts a page would have to repeat joins. */
export const parentPaths = (eb: ExpressionBuilder<CoreTables, 'milestones'>) =>
  [
    eb.selectFrom('groups').select('full_path').whereRef('groups.id', '=', 'milestones.group_id').as('group_path'),
    eb
      .selectFrom('projects')
      .select('full_path')
      .whereRef('projects.id', '=', 'milestones.project_id')
      .as('project_path'),
  ] as const

export type RowWithPaths = MilestoneRow & { group_path: string | null; project_path: string | null }

export const parentOf = ({ group_id, group_path, project_id, project_path }: RowWithPaths): MilestoneParent =>
  group_id !== null
    ? { kind: 'group', id: group_id, fullPath: group_path! }
    : { kind: 'project', id: project_id!, fullPath: project_path! }

export function milestoneOf(row: MilestoneRow, { kind, id, fullPath }: MilestoneParent): Milestone {
  return {
    id: row.id,
    iid: row.iid,
    parent: { kind, id, fullPath },
    title: row.title,
    state: row.state,
    startDate: row.start_date ?? undefined,
    dueDate: row.due_date ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }
}

export const describedMilestoneOf = (row: DescribedRow<MilestoneRow>, parent: MilestoneParent): DescribedMilestone => ({
  ...milestoneOf(row, parent),
  description: row.description ?? undefined,
})
