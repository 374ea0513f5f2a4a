import type { Selectable } from 'kysely'
import { containsText } from '../../base/kit/contains-text.ts'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { nextIid } from '../../base/kit/internal-id.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { countRows, deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { type FeatureFlag, flagFields } from './feature-flag.ts'
import { type UserList, userListFields } from './user-list.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    feature_flags: FeatureFlagsTable
    feature_flag_user_lists: UserListsTable
  }
}

interface FeatureFlagsTable extends ColumnsOf<typeof flagFields> {}
interface UserListsTable extends ColumnsOf<typeof userListFields> {}

type InProject = Pick<Project, 'id'>

const flagOf = (row: Selectable<FeatureFlagsTable>): FeatureFlag => fromRow(flagFields, row)
const userListOf = (row: Selectable<UserListsTable>): UserList => fromRow(userListFields, row)
const { id: _flagId, ...storedFlag } = flagFields
const { id: _listId, ...storedList } = userListFields

const flagsOf = ({ db }: Pick<ReadContext, 'db'>, { id }: InProject) =>
  db.selectFrom('feature_flags').selectAll().where('project_id', '=', id)
const listsOf = ({ db }: Pick<ReadContext, 'db'>, { id }: InProject) =>
  db.selectFrom('feature_flag_user_lists').selectAll().where('project_id', '=', id)

/** Returns a page of flags, ordered by name. */
export const pageOfFlags = (
  context: ReadContext,
  project: InProject,
  { scope, ...page }: PageRequest & { readonly scope?: 'enabled' | 'disabled' | undefined },
): Promise<Page<FeatureFlag>> =>
  pageOfItems(
    context,
    flagsOf(context, project)
      .$if(scope !== undefined, (all) => all.where('active', '=', Number(scope === 'enabled')))
      .orderBy('name')
      .orderBy('id'),
    page,
    flagOf,
  )

export async function findFlag(
  context: ReadContext,
  project: InProject,
  name: string,
): Promise<FeatureFlag | undefined> {
  const row = await flagsOf(context, project).where('name', '=', name).executeTakeFirst()
  return row && flagOf(row)
}

export async function flagById({ db }: ReadContext, id: number): Promise<FeatureFlag | undefined> {
  const row = await db.selectFrom('feature_flags').selectAll().where('id', '=', id).executeTakeFirst()
  return row && flagOf(row)
}

export const countFlags = (context: Pick<Tx, 'db'>, { id }: InProject): Promise<number> =>
  countRows(context, 'feature_flags', (eb) => eb('project_id', '=', id))

export async function insertFlag(
  tx: Tx,
  draft: Omit<FeatureFlag, 'id' | 'iid' | 'createdAtMs' | 'updatedAtMs'>,
): Promise<FeatureFlag> {
  const iid = await nextIid(tx, { projectId: draft.projectId }, 'feature_flags')
  const times = { createdAtMs: tx.nowMs, updatedAtMs: tx.nowMs }
  return flagOf(await insertRow(tx, 'feature_flags', toRow(storedFlag, { ...draft, ...times, iid })))
}

export const updateFlagRow = async (tx: Tx, { id, ...flag }: FeatureFlag): Promise<FeatureFlag> =>
  flagOf(await updateRow(tx, 'feature_flags', id, { ...toRow(storedFlag, { ...flag, updatedAtMs: tx.nowMs }) }))

export const deleteFlag = (tx: Pick<Tx, 'db'>, id: number) => deleteRow(tx, 'feature_flags', id)

/** Returns whether a strategy of a flag refers to the list. */
export async function isListUsed(context: Pick<Tx, 'db'>, project: InProject, listId: number): Promise<boolean> {
  const rows = await flagsOf(context, project).where('strategies', 'like', `%"userListId":${listId}%`).execute()
  return rows.some((row) => flagOf(row).strategies.some(({ userListId }) => userListId === listId))
}

/** Returns a page of lists of users, ordered by id. */
export const pageOfUserLists = (
  context: ReadContext,
  project: InProject,
  { search, ...page }: PageRequest & { readonly search?: string | undefined },
): Promise<Page<UserList>> =>
  pageOfItems(
    context,
    listsOf(context, project)
      .$if(!!search, (all) => all.where(containsText(context, ['feature_flag_user_lists.name'], search!)))
      .orderBy('id'),
    page,
    userListOf,
  )

export async function findUserList(
  context: ReadContext,
  project: InProject,
  by: { readonly iid: number } | { readonly name: string },
): Promise<UserList | undefined> {
  const all = listsOf(context, project)
  const row = await ('iid' in by ? all.where('iid', '=', by.iid) : all.where('name', '=', by.name)).executeTakeFirst()
  return row && userListOf(row)
}

/** Returns the lists of the project with these ids, by id. */
export async function userListsById(
  context: Pick<ReadContext, 'db'>,
  project: InProject,
  ids: readonly number[],
): Promise<Map<number, UserList>> {
  if (ids.length === 0) return new Map()
  const rows = await listsOf(context, project)
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, userListOf(row)]))
}

export const countUserLists = (context: Pick<Tx, 'db'>, { id }: InProject): Promise<number> =>
  countRows(context, 'feature_flag_user_lists', (eb) => eb('project_id', '=', id))

export async function insertUserList(
  tx: Tx,
  draft: Pick<UserList, 'projectId' | 'name' | 'userXids'>,
): Promise<UserList> {
  const iid = await nextIid(tx, { projectId: draft.projectId }, 'feature_flag_user_lists')
  const times = { createdAtMs: tx.nowMs, updatedAtMs: tx.nowMs }
  return userListOf(await insertRow(tx, 'feature_flag_user_lists', toRow(storedList, { ...draft, ...times, iid })))
}

export const updateUserListRow = async (tx: Tx, { id, ...list }: UserList): Promise<UserList> =>
  userListOf(
    await updateRow(tx, 'feature_flag_user_lists', id, { ...toRow(storedList, { ...list, updatedAtMs: tx.nowMs }) }),
  )

export const deleteUserList = (tx: Pick<Tx, 'db'>, id: number) => deleteRow(tx, 'feature_flag_user_lists', id)
