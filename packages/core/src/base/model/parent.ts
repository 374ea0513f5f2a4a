import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { int } from '../kit/field-table.ts'
import type { CoreTables } from '../kit/tables.ts'
import type { Group } from './group.ts'
import type { Project } from './project.ts'

/** Identifies the group or project that something belongs to. */
export type ParentRef = Pick<Group, 'kind' | 'id'> | Pick<Project, 'kind' | 'id'>

/** A `ParentRef` with the path that URLs contain. */
export type ParentWithPath = Pick<Group, 'kind' | 'id' | 'fullPath'> | Pick<Project, 'kind' | 'id' | 'fullPath'>

/** The columns of a table with rows that belong to a group or project. Exactly one of the two is set. */
export interface ParentColumns {
  group_id: number | null
  project_id: number | null
}

/** The columns of `ParentColumns` as rows of a field table. */
export const parentFields = { groupId: int('group_id').optional(), projectId: int('project_id').optional() }

/** The tables with rows that belong to a group or project. */
export type TableOfParents = {
  [Table in keyof CoreTables]: CoreTables[Table] extends ParentColumns ? Table : never
}[keyof CoreTables]

/** Returns the columns of a new row. */
export const parentColumns = ({ kind, id }: ParentRef): ParentColumns => ({
  group_id: kind === 'group' ? id : null,
  project_id: kind === 'project' ? id : null,
})

/** Returns the column that refers to the parent. */
export const parentColumn = ({ kind }: ParentRef): 'group_id' | 'project_id' =>
  kind === 'group' ? 'group_id' : 'project_id'

/** Returns the condition, for `where`, that the row belongs to the parent. */
export const belongsTo =
  (parent: ParentRef) =>
  (eb: ExpressionBuilder<CoreTables, TableOfParents>): Expression<SqlBool> =>
    eb(parentColumn(parent), '=', parent.id)

/** Returns the parent of a row. */
export const parentOfRow = ({ group_id, project_id }: ParentColumns): ParentRef =>
  group_id === null ? { kind: 'project', id: project_id! } : { kind: 'group', id: group_id }

/** Returns the parent in the form in which events, internal ids and tokens store it. */
export const parentIds = ({ kind, id }: ParentRef): { readonly groupId: number } | { readonly projectId: number } =>
  kind === 'group' ? { groupId: id } : { projectId: id }

/** Returns the path of the parent's page, below the external URL. */
export const parentWebPath = ({ kind, fullPath }: ParentWithPath): string =>
  kind === 'group' ? `groups/${fullPath}` : fullPath
