import type { Generated, Selectable } from 'kysely'
import type { Visibility } from '../access/access-level.ts'
import type { Reading, Tx } from '../kit/context.ts'
import { notFound } from '../kit/domain-error.ts'
import type { Group, GroupRef } from './group.ts'
import { insertRoute } from './route-store.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    groups: GroupsTable
  }
}

export interface GroupsTable {
  id: Generated<number>
  parent_id: number | null
  path: string
  full_path: string
  name: string
  full_name: string
  description: string
  visibility: Visibility
  /** `/1/5/16/`: ids from the root down to its own, so that what lies below begins with it. */
  lineage: string
  created_at_ms: number
}

/** @throws DomainError `not_found` */
export async function getGroup(reading: Reading, ref: GroupRef): Promise<Group> {
  const group = await findGroup(reading, ref)
  if (group === undefined) throw notFound('Group')
  return group
}

export async function findGroup({ db }: Reading, ref: GroupRef): Promise<Group | undefined> {
  const row =
    typeof ref === 'number'
      ? await db.selectFrom('groups').selectAll().where('id', '=', ref).executeTakeFirst()
      : await db
          .selectFrom('groups')
          .innerJoin('routes', 'routes.group_id', 'groups.id')
          .selectAll('groups')
          .where('routes.path', '=', ref.toLowerCase())
          .where('routes.is_former', '=', 0)
          .executeTakeFirst()
  return row && groupOf(row)
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
    createdAtMs: row.created_at_ms,
  }
}

/** `/1/5/` → [1, 5] */
export const idsOf = (lineage: string): number[] => lineage.split('/').filter(Boolean).map(Number)
/** [1, 5] → `/1/5/` */
export const lineageOf = (groupIds: readonly number[]): string => `/${groupIds.map((id) => `${id}/`).join('')}`

export interface GroupDraft {
  readonly parent: Group | undefined
  readonly path: string
  readonly name: string
  readonly description?: string
  readonly visibility: Visibility
}

/** @throws the database's error when the path is in use */
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
