import { Lookup } from '@penstock/db'
import { type ExpressionBuilder, type Generated, type Selectable, type SqlBool, sql } from 'kysely'
import { removeRepositories } from '../../base/git/sweep-repositories.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { fromRow, toRow } from '../../base/kit/field-table.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { settingsFrom, settingsText } from '../../base/kit/stored-settings.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { accessLevels, type Visibility } from '../../base/model/access-level.ts'
import { type FeatureColumns, projectFeatureFields } from '../../base/model/feature-access.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import { projectSettings } from '../../base/model/project-settings.ts'
import type { ActingUser } from '../../base/model/user.ts'
import type { Tx } from '../../base/operations/context.ts'
import { idsOf, lineageOf } from '../groups/group-store.ts'
import { insertMember } from '../members/member-store.ts'
import { insertRoute } from '../paths/route-store.ts'
import { repositoriesOfSnippets } from './snippet-repositories.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    projects: ProjectsTable
  }
}

export interface ProjectsTable extends FeatureColumns<typeof projectFeatureFields> {
  id: Generated<number>
  group_id: number | null
  owner_id: number | null
  path: string
  full_path: string
  name: string
  description: string | null
  visibility: Visibility
  /** The lineage of its group; `/` in the namespace of a user. */
  lineage: string
  creator_id: number | null
  default_branch: string | null
  is_archived: number
  /** 1 until the first commit. */
  is_empty: Generated<number>
  request_access_enabled: Generated<number>
  /** JSON, see `settingsFrom`. */
  settings: Generated<string>
  /** A file name; the bytes are in `avatars`. */
  avatar: Generated<string | null>
  created_at_ms: number
  last_activity_at_ms: number
}

/** @throws DomainError `not_found` */
export async function getProject(context: ReadContext, ref: ProjectRef): Promise<Project> {
  const project = await findProject(context, ref)
  if (project === undefined) throw notFound('Project')
  return project
}

export async function findProject({ db }: ReadContext, ref: ProjectRef): Promise<Project | undefined> {
  const row = typeof ref === 'number' ? await projectById.run(db, ref) : await projectByPath.run(db, ref.toLowerCase())
  return row && projectOf(row)
}

const projectById = new Lookup((db: ReadContext['db'], id: number) =>
  db.selectFrom('projects').selectAll().where('id', '=', id),
)

const projectByPath = new Lookup((db: ReadContext['db'], path: string) =>
  db
    .selectFrom('projects')
    .innerJoin('routes', 'routes.project_id', 'projects.id')
    .selectAll('projects')
    .where('routes.path', '=', path)
    .where('routes.is_former', '=', 0),
)

/** Returns the existing projects with these ids, by id. */
export async function findProjects({ db }: ReadContext, ids: readonly number[]): Promise<Map<number, Project>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('projects')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, projectOf(row)]))
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
    isEmpty: row.is_empty === 1,
    requestAccessEnabled: row.request_access_enabled === 1,
    features: fromRow(projectFeatureFields, row),
    settings: settingsFrom(projectSettings, row.settings),
    avatar: row.avatar ?? undefined,
    createdAtMs: row.created_at_ms,
    lastActivityAtMs: row.last_activity_at_ms,
  }
}

interface ProjectDraft {
  /** The group, or the user with the namespace, to which the project is added. */
  readonly parent: Group | ActingUser
  readonly path: string
  readonly name: string
  readonly description?: string
  readonly visibility: Visibility
  readonly creatorId?: number
}

/** @throws the database's error if the path is in use */
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
  const project = projectOf(row)
  // The owner of the namespace becomes a member with the Owner role, so that roles are stored in one table only.
  if (group === undefined) await insertMember({ db, nowMs }, project, { userId: parent.id, level: accessLevels.owner })
  return project
}

export type ProjectChanges = Partial<
  Pick<
    Project,
    | 'path'
    | 'fullPath'
    | 'name'
    | 'description'
    | 'visibility'
    | 'defaultBranch'
    | 'isArchived'
    | 'requestAccessEnabled'
    | 'features'
    | 'settings'
    | 'avatar'
  > & {
    /** The new namespace; `fullPath` must be set too. */
    readonly parent: Group | ActingUser
  }
>

/** Updates the row but not the route of a new path. A key set to `undefined` clears an optional value. */
export async function updateProjectRow(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  id: number,
  changes: ProjectChanges,
): Promise<Project> {
  const { parent } = changes
  const group = parent !== undefined && 'kind' in parent ? parent : undefined
  const row = await db
    .updateTable('projects')
    .set({
      ...(changes.path !== undefined && { path: changes.path }),
      ...(changes.fullPath !== undefined && { full_path: changes.fullPath }),
      ...(changes.name !== undefined && { name: changes.name }),
      ...('description' in changes && { description: changes.description ?? null }),
      ...(changes.visibility !== undefined && { visibility: changes.visibility }),
      ...('defaultBranch' in changes && { default_branch: changes.defaultBranch ?? null }),
      ...(changes.isArchived !== undefined && { is_archived: changes.isArchived ? 1 : 0 }),
      ...(changes.requestAccessEnabled !== undefined && {
        request_access_enabled: changes.requestAccessEnabled ? 1 : 0,
      }),
      ...(changes.features !== undefined && toRow(projectFeatureFields, changes.features)),
      ...(changes.settings !== undefined && { settings: settingsText(projectSettings, changes.settings) }),
      ...('avatar' in changes && { avatar: changes.avatar ?? null }),
      ...(parent !== undefined && {
        group_id: group?.id ?? null,
        owner_id: group === undefined ? parent.id : null,
        lineage: lineageOf(group?.groupIds ?? []),
      }),
      last_activity_at_ms: nowMs,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return projectOf(row)
}

/** Updates the full paths, but not the routes, of all projects below a renamed namespace. */
export async function renameProjectsBelow({ db }: Pick<Tx, 'db'>, from: string, to: string): Promise<void> {
  const { length } = from
  await db
    .updateTable('projects')
    .set({ full_path: sql<string>`${to} || substr(full_path, ${sql.lit(length + 1)})` })
    .where(sql<SqlBool>`substr(full_path, 1, ${sql.lit(length + 1)}) = ${`${from}/`}`)
    .execute()
}

/** Deletes projects with their routes, members and repositories, also those of their snippets. Foreign keys delete the rows of other areas. */
export async function deleteProjectsOf(
  tx: Pick<Tx, 'db' | 'nowMs' | 'afterCommit'>,
  which: { readonly ownerId: number } | { readonly within: Group } | { readonly id: number },
): Promise<Project[]> {
  const condition = (eb: ExpressionBuilder<CoreTables, 'projects'>) =>
    'ownerId' in which
      ? eb('projects.owner_id', '=', which.ownerId)
      : 'within' in which
        ? eb('projects.lineage', 'like', `${lineageOf(which.within.groupIds)}%`)
        : eb('projects.id', '=', which.id)
  const snippets = await repositoriesOfSnippets(tx, condition)
  const rows = await tx.db.deleteFrom('projects').where(condition).returningAll().execute()
  const own = rows.flatMap(({ id }) => [
    { kind: 'project' as const, id },
    { kind: 'project_wiki' as const, id },
  ])
  await removeRepositories(tx, [...own, ...snippets])
  return rows.map(projectOf)
}

/** Returns the project that had this path before it was renamed or moved, for redirects. */
export async function findFormerProject({ db }: ReadContext, path: string): Promise<Project | undefined> {
  const row = await db
    .selectFrom('projects')
    .innerJoin('routes', 'routes.project_id', 'projects.id')
    .selectAll('projects')
    .where('routes.path', '=', path.toLowerCase())
    .where('routes.is_former', '=', 1)
    .executeTakeFirst()
  return row && projectOf(row)
}

/** Returns the number of projects in the namespace of a user, counted up to `limit`. */
export async function countProjectsOfUser({ db }: ReadContext, userId: number, limit: number): Promise<number> {
  const some = db.selectFrom('projects').select('id').where('owner_id', '=', userId).limit(limit)
  const counted = db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<number>().as('count'))
  return Number((await counted.executeTakeFirstOrThrow()).count)
}
