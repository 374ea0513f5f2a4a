import type { Generated, Selectable } from 'kysely'
import type { Visibility } from '../access/access-level.ts'
import type { Group } from '../groups/group.ts'
import { idsOf, lineageOf } from '../groups/group-store.ts'
import { insertRoute } from '../groups/route-store.ts'
import type { Reading, Tx } from '../kit/context.ts'
import { notFound } from '../kit/domain-error.ts'
import type { ActingUser } from '../users/user.ts'
import type { Project, ProjectRef } from './project.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    projects: ProjectsTable
  }
}

export interface ProjectsTable {
  id: Generated<number>
  group_id: number | null
  owner_id: number | null
  path: string
  full_path: string
  name: string
  description: string | null
  visibility: Visibility
  /** Of the group it lies in; `/` in the namespace of a user. */
  lineage: string
  creator_id: number | null
  default_branch: string | null
  is_archived: number
  created_at_ms: number
  last_activity_at_ms: number
}

/** @throws DomainError `not_found` */
export async function getProject(reading: Reading, ref: ProjectRef): Promise<Project> {
  const project = await findProject(reading, ref)
  if (project === undefined) throw notFound('Project')
  return project
}

export async function findProject({ db }: Reading, ref: ProjectRef): Promise<Project | undefined> {
  const row =
    typeof ref === 'number'
      ? await db.selectFrom('projects').selectAll().where('id', '=', ref).executeTakeFirst()
      : await db
          .selectFrom('projects')
          .innerJoin('routes', 'routes.project_id', 'projects.id')
          .selectAll('projects')
          .where('routes.path', '=', ref.toLowerCase())
          .where('routes.is_former', '=', 0)
          .executeTakeFirst()
  return row && projectOf(row)
}

export function projectOf(row: Selectable<ProjectsTable>): Project {
  return {
    kind: 'project',
    id: row.id,
    groupId: row.group_id ?? undefined,
    ownerId: row.owner_id ?? undefined,
    path: row.path,
    fullPath: row.full_path,
    name: row.name,
    description: row.description ?? undefined,
    visibility: row.visibility,
    groupIds: idsOf(row.lineage),
    creatorId: row.creator_id ?? undefined,
    defaultBranch: row.default_branch ?? undefined,
    isArchived: row.is_archived === 1,
    createdAtMs: row.created_at_ms,
    lastActivityAtMs: row.last_activity_at_ms,
  }
}

export interface ProjectDraft {
  /** A group, or the user in whose namespace it is to lie. */
  readonly parent: Group | ActingUser
  readonly path: string
  readonly name: string
  readonly description?: string
  readonly visibility: Visibility
  readonly creatorId?: number
}

/** @throws the database's error when the path is in use */
export async function insertProject({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, draft: ProjectDraft): Promise<Project> {
  const { parent } = draft
  const group = 'kind' in parent ? parent : undefined
  const namespace = 'kind' in parent ? parent.fullPath : parent.username
  const row = await db
    .insertInto('projects')
    .values({
      group_id: group?.id ?? null,
      owner_id: group === undefined ? parent.id : null,
      path: draft.path,
      full_path: `${namespace}/${draft.path}`,
      name: draft.name,
      description: draft.description ?? null,
      visibility: draft.visibility,
      lineage: lineageOf(group?.groupIds ?? []),
      creator_id: draft.creatorId ?? null,
      default_branch: null,
      is_archived: 0,
      created_at_ms: nowMs,
      last_activity_at_ms: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await insertRoute(db, row.full_path, { project_id: row.id })
  return projectOf(row)
}
