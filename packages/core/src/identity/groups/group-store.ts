import { Lookup } from '@penstock/db'
import { type Generated, type Selectable, sql } from 'kysely'
import { notFound } from '../../base/kit/domain-error.ts'
import { fromRow, toRow } from '../../base/kit/field-table.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { settingsFrom, settingsText } from '../../base/kit/stored-settings.ts'
import type { Visibility } from '../../base/model/access-level.ts'
import { creationLevelFields } from '../../base/model/creation-levels.ts'
import { type FeatureColumns, groupFeatureFields } from '../../base/model/feature-access.ts'
import type { Group, GroupRef } from '../../base/model/group.ts'
import { groupSettings } from '../../base/model/group-settings.ts'
import type { Tx } from '../../base/operations/context.ts'
import { insertRoute } from '../paths/route-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    groups: GroupsTable
  }
}

export interface GroupsTable
  extends FeatureColumns<typeof groupFeatureFields>,
    FeatureColumns<typeof creationLevelFields> {
  id: Generated<number>
  parent_id: number | null
  path: string
  full_path: string
  name: string
  full_name: string
  description: string
  visibility: Visibility
  /** The ids from the root down to the group itself, such as `/1/5/16/`. The lineages of everything below begin with it. */
  lineage: string
  request_access_enabled: Generated<number>
  /** JSON, see `settingsFrom`. */
  settings: Generated<string>
  default_branch: Generated<string | null>
  /** A file name; the bytes are in `avatars`. */
  avatar: Generated<string | null>
  created_at_ms: number
  /** The time of the last change; null if the row has not changed since this column exists. */
  updated_at_ms: Generated<number | null>
}

/** Returns the group. @throws DomainError `not_found` */
export async function getGroup(context: ReadContext, ref: GroupRef): Promise<Group> {
  const group = await findGroup(context, ref)
  if (group === undefined) throw notFound('Group')
  return group
}

export async function findGroup({ db }: ReadContext, ref: GroupRef): Promise<Group | undefined> {
  const row = typeof ref === 'number' ? await groupById.run(db, ref) : await groupByPath.run(db, ref.toLowerCase())
  return row && groupOf(row)
}

const groupById = new Lookup((db: ReadContext['db'], id: number) =>
  db.selectFrom('groups').selectAll().where('id', '=', id),
)

const groupByPath = new Lookup((db: ReadContext['db'], path: string) =>
  db
    .selectFrom('groups')
    .innerJoin('routes', 'routes.group_id', 'groups.id')
    .selectAll('groups')
    .where('routes.path', '=', path)
    .where('routes.is_former', '=', 0),
)

/** Returns the existing groups with these ids, by id. */
export async function findGroups({ db }: ReadContext, ids: readonly number[]): Promise<Map<number, Group>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('groups')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, groupOf(row)]))
}

export function groupOf(row: Selectable<GroupsTable>): Group {
  return {
    kind: 'group',
    id: row.id,
    parentId: row.parent_id ?? undefined,
    path: row.path,
    fullPath: row.full_path,
    name: row.name,
    fullName: row.full_name,
    description: row.description,
    visibility: row.visibility,
    groupIds: idsOf(row.lineage),
    requestAccessEnabled: row.request_access_enabled === 1,
    features: fromRow(groupFeatureFields, row),
    settings: settingsFrom(groupSettings, row.settings),
    creation: fromRow(creationLevelFields, row),
    defaultBranch: row.default_branch ?? undefined,
    avatar: row.avatar ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms ?? row.created_at_ms,
  }
}

/** Returns the ids in a lineage: `/1/5/` → [1, 5] */
export const idsOf = (lineage: string): number[] => lineage.split('/').filter(Boolean).map(Number)
/** Returns the lineage of ids: [1, 5] → `/1/5/` */
export const lineageOf = (groupIds: readonly number[]): string => `/${groupIds.map((id) => `${id}/`).join('')}`

interface GroupDraft {
  readonly parent: Group | undefined
  readonly path: string
  readonly name: string
  readonly description?: string
  readonly visibility: Visibility
}

/** Inserts a group and its route. @throws the database's error if the path is in use */
export async function insertGroup({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, draft: GroupDraft): Promise<Group> {
  const { parent } = draft
  const fullPath = parent === undefined ? draft.path : `${parent.fullPath}/${draft.path}`
  const { id } = await db
    .insertInto('groups')
    .values({
      parent_id: parent?.id ?? null,
      path: draft.path,
      full_path: fullPath,
      name: draft.name,
      full_name: parent === undefined ? draft.name : `${parent.fullName} / ${draft.name}`,
      description: draft.description ?? '',
      visibility: draft.visibility,
      lineage: '',
      created_at_ms: nowMs,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const row = await db
    .updateTable('groups')
    .set({ lineage: lineageOf([...(parent?.groupIds ?? []), id]) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await insertRoute(db, fullPath, { group_id: id })
  return groupOf(row)
}

type GroupChanges = Partial<
  Pick<
    Group,
    | 'description'
    | 'visibility'
    | 'requestAccessEnabled'
    | 'features'
    | 'settings'
    | 'creation'
    | 'defaultBranch'
    | 'avatar'
  >
>

export async function updateGroupRow(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  id: number,
  changes: GroupChanges,
): Promise<Group> {
  const row = await db
    .updateTable('groups')
    .set({
      ...(changes.description !== undefined && { description: changes.description }),
      ...(changes.visibility !== undefined && { visibility: changes.visibility }),
      ...(changes.requestAccessEnabled !== undefined && {
        request_access_enabled: changes.requestAccessEnabled ? 1 : 0,
      }),
      ...(changes.features !== undefined && toRow(groupFeatureFields, changes.features)),
      ...(changes.settings !== undefined && { settings: settingsText(groupSettings, changes.settings) }),
      ...(changes.creation !== undefined && toRow(creationLevelFields, changes.creation)),
      ...('defaultBranch' in changes && { default_branch: changes.defaultBranch ?? null }),
      ...('avatar' in changes && { avatar: changes.avatar ?? null }),
      updated_at_ms: nowMs,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return groupOf(row)
}

/**
 * Updates the path and name of a group, and the full paths and names of all groups below. Does not update routes and
 * projects.
 */
export async function renameGroupRows(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  group: Group,
  { path, name }: Pick<Group, 'path' | 'name'>,
): Promise<void> {
  const fullPath = group.fullPath.slice(0, group.fullPath.length - group.path.length) + path
  const fullName = group.fullName.slice(0, group.fullName.length - group.name.length) + name
  await db.updateTable('groups').set({ path, name, updated_at_ms: nowMs }).where('id', '=', group.id).execute()
  await db
    .updateTable('groups')
    .set({
      full_path: sql<string>`${fullPath} || substr(full_path, ${sql.lit(characters(group.fullPath) + 1)})`,
      full_name: sql<string>`${fullName} || substr(full_name, ${sql.lit(characters(group.fullName) + 1)})`,
    })
    .where('lineage', 'like', `${lineageOf(group.groupIds)}%`)
    .execute()
}

/**
 * Deletes a group and all groups below it, with their routes and members, and returns the groups. Their projects must
 * be deleted first.
 */
export async function deleteGroupRows({ db }: Pick<Tx, 'db'>, { groupIds }: Group): Promise<Group[]> {
  const rows = await db
    .deleteFrom('groups')
    .where('lineage', 'like', `${lineageOf(groupIds)}%`)
    .returningAll()
    .execute()
  return rows.map(groupOf)
}

/** Returns the length in characters, as databases count it, not in UTF-16 units. */
const characters = (text: string) => [...text].length

/** Returns the different visibilities of the groups and of the projects below a group, at any depth. */
export async function visibilitiesBelow(
  { db }: Pick<Tx, 'db'>,
  { groupIds }: Group,
): Promise<{ groups: Visibility[]; projects: Visibility[] }> {
  const lineage = lineageOf(groupIds)
  const groups = await db
    .selectFrom('groups')
    .select('visibility')
    .distinct()
    .where('lineage', 'like', `${lineage}_%`)
    .execute()
  const projects = await db
    .selectFrom('projects')
    .select('visibility')
    .distinct()
    .where('lineage', 'like', `${lineage}%`)
    .execute()
  return { groups: groups.map((row) => row.visibility), projects: projects.map((row) => row.visibility) }
}
