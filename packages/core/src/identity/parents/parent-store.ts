import { sql } from 'kysely'
import { allowedInGroup, allowedInProject } from '../../base/access/visible-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Group } from '../../base/model/group.ts'
import {
  type ParentColumns,
  type ParentRef,
  type ParentWithPath,
  parentOfRow,
  type TableOfParents,
} from '../../base/model/parent.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import { groupOf } from '../groups/group-store.ts'
import { projectOf } from '../projects/project-store.ts'

/** Selects the path of the parent, with subqueries, because the query that counts a page would have to repeat joins. */
export const parentPaths = (table: TableOfParents) => [
  pathIn('groups', `${table}.group_id`).as('group_path'),
  pathIn('projects', `${table}.project_id`).as('project_path'),
]

const pathIn = (parents: 'groups' | 'projects', id: string) =>
  sql<string | null>`(select full_path from ${sql.table(parents)} where ${sql.ref(`${parents}.id`)} = ${sql.ref(id)})`

/** A row with its `parentPaths`. */
export interface RowWithPaths extends ParentColumns {
  readonly group_path: string | null
  readonly project_path: string | null
}

export function parentWithPath(row: RowWithPaths): ParentWithPath {
  const { kind, id } = parentOfRow(row)
  return { kind, id, fullPath: row.group_path ?? row.project_path! }
}

/** Returns each parent, or `undefined` if the actor may not see it. */
export async function visibleParents(
  context: ReadContext & { readonly actor: Actor },
  refs: readonly ParentRef[],
): Promise<(Group | Project | undefined)[]> {
  const { db, actor } = context
  const idsOf = (wanted: ParentRef['kind']) => [...new Set(refs.flatMap(({ kind, id }) => (kind === wanted ? id : [])))]
  const [groupIds, projectIds] = [idsOf('group'), idsOf('project')]
  const groups = db.selectFrom('groups').selectAll().where('id', 'in', groupIds)
  const projects = db.selectFrom('projects').selectAll().where('id', 'in', projectIds)
  const found = [
    ...(groupIds.length === 0 ? [] : await groups.where(allowedInGroup(context, actor, 'read_group')).execute()).map(
      groupOf,
    ),
    ...(projectIds.length === 0
      ? []
      : await projects.where(allowedInProject(context, actor, 'read_project')).execute()
    ).map(projectOf),
  ]
  const byRef = new Map(found.map((parent) => [`${parent.kind} ${parent.id}`, parent]))
  return refs.map(({ kind, id }) => byRef.get(`${kind} ${id}`))
}
