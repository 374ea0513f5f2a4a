import { Lookup } from '@penstock/db'
import type { GeneratedAlways, Selectable } from 'kysely'
import type { Subject } from '../../base/access/subject.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type ColumnsOf, columnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { nextIid } from '../../base/kit/internal-id.ts'
import { deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import {
  belongsTo,
  type ParentColumns,
  type ParentRef,
  type ParentWithPath,
  parentColumns,
  parentIds,
} from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import { isInScope } from '../../identity/parents/parent-scope-store.ts'
import { parentPaths, parentWithPath, type RowWithPaths } from '../../identity/parents/parent-store.ts'
import {
  type DescribedMilestone,
  describedMilestoneFields,
  type Milestone,
  type MilestoneDraft,
  milestoneDraft,
  milestoneFields,
} from './milestone.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    milestones: MilestonesTable
  }
}

interface MilestonesTable extends ParentColumns, ColumnsOf<typeof describedMilestoneFields> {
  /** The due date, or a value that sorts after all dates. */
  due_order: GeneratedAlways<string>
}

/** Selects all columns but the description, and the path of the parent. */
export const listedMilestones = ({ db }: ReadContext) =>
  db
    .selectFrom('milestones')
    .select(columnsOf(milestoneFields))
    .select(['group_id', 'project_id'])
    .select(parentPaths('milestones'))

/** @throws DomainError `not_found`, also for a milestone of another parent */
export async function getMilestone(
  context: ReadContext,
  parent: ParentWithPath,
  id: number,
): Promise<DescribedMilestone> {
  const milestone = await findMilestone(context, parent, id)
  if (milestone === undefined) throw notFound()
  return milestone
}

export async function findMilestone(
  { db }: ReadContext,
  parent: ParentWithPath,
  id: number,
): Promise<DescribedMilestone | undefined> {
  const row = await milestoneById[parent.kind].run(db, id, parent.id)
  return row && describedMilestoneOf(row, parent)
}

const milestoneByIdIn = (kind: ParentRef['kind']) =>
  new Lookup((db: ReadContext['db'], id: number, parentId: number) =>
    db
      .selectFrom('milestones')
      .selectAll()
      .where('id', '=', id)
      .where(belongsTo({ kind, id: parentId })),
  )
const milestoneById = { group: milestoneByIdIn('group'), project: milestoneByIdIn('project') }

/** Returns the existing milestones with these ids, by id. */
export async function findMilestones(context: ReadContext, ids: readonly number[]): Promise<Map<number, Milestone>> {
  if (ids.length === 0) return new Map()
  const rows = await listedMilestones(context)
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.id, milestoneOf(row)]))
}

/** Returns whether the parent, a group above it, or a group or project below it has a milestone with this title. */
export async function isTitleTaken(context: ReadContext, parent: Subject, title: string): Promise<boolean> {
  const row = await context.db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where(isInScope(context, { parent, above: true, groupsBelow: true, projectsBelow: 'all' }))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertMilestone(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  parent: ParentWithPath,
  draft: MilestoneDraft,
): Promise<DescribedMilestone> {
  const row = await insertRow(tx, 'milestones', {
    ...parentColumns(parent),
    iid: await nextIid(tx, parentIds(parent), 'milestones'),
    ...toRow(milestoneDraft, draft),
    state: 'active',
    created_at_ms: tx.nowMs,
    updated_at_ms: tx.nowMs,
  })
  return describedMilestoneOf(row, parent)
}

export async function updateMilestone(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  { id, parent, state, ...draft }: DescribedMilestone,
): Promise<DescribedMilestone> {
  const columns = { ...toRow(milestoneDraft, draft), state, updated_at_ms: tx.nowMs }
  return describedMilestoneOf(await updateRow(tx, 'milestones', id, columns), parent)
}

/** Deletes a milestone. Issues and merge requests that referred to it have no milestone afterwards. */
export const deleteMilestone = (tx: Pick<Tx, 'db'>, id: number) => deleteRow(tx, 'milestones', id)

export const milestoneOf = (row: Selectable<ColumnsOf<typeof milestoneFields>> & RowWithPaths): Milestone =>
  Object.assign(fromRow(milestoneFields, row), { parent: parentWithPath(row) })

export const describedMilestoneOf = (
  row: Selectable<ColumnsOf<typeof describedMilestoneFields>>,
  { kind, id, fullPath }: ParentWithPath,
): DescribedMilestone => Object.assign(fromRow(describedMilestoneFields, row), { parent: { kind, id, fullPath } })
