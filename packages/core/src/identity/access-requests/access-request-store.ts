import type { Selectable } from 'kysely'
import { mapPage, type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import { deleteRow, insertRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { belongsTo, type ParentRef, parentColumns } from '../../base/model/parent.ts'
import type { User } from '../../base/model/user.ts'
import type { Tx } from '../../base/operations/context.ts'
import { findUsers } from '../users/user-store.ts'
import type { AccessRequest } from './access-request.ts'

const requestsFor = ({ db }: ReadContext, subject: ParentRef) =>
  db.selectFrom('access_requests').selectAll().where(belongsTo(subject))

/** Returns one page of requests, the oldest first. @param userId selects the request of one user */
export async function pageOfAccessRequests(
  context: ReadContext,
  subject: ParentRef,
  userId: number | undefined,
  page: PageRequest,
): Promise<Page<AccessRequest>> {
  const all = requestsFor(context, subject).orderBy('id')
  const rows = await pageOf(context, userId === undefined ? all : all.where('user_id', '=', userId), page)
  const users = await findUsers(
    context,
    rows.items.map((row) => row.user_id),
  )
  return mapPage(rows, (row) => requestOf(row, users.get(row.user_id)!))
}

/** Returns the pending request of the user for a role in the subject itself. */
export async function findAccessRequest(
  context: ReadContext,
  subject: ParentRef,
  userId: number,
): Promise<AccessRequest | undefined> {
  const row = await requestsFor(context, subject).where('user_id', '=', userId).executeTakeFirst()
  return row && requestOf(row, (await findUsers(context, [userId])).get(userId)!)
}

/** Returns those of the projects that the user has requested a role in. */
export async function projectsWithRequest(
  { db }: ReadContext,
  userId: number,
  projectIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (projectIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('access_requests')
    .select('project_id')
    .where('user_id', '=', userId)
    .where('project_id', 'in', [...projectIds])
    .execute()
  return new Set(rows.map((row) => row.project_id!))
}

/** @throws the database's error if the user has a request there already */
export async function insertAccessRequest(tx: Tx, subject: ParentRef, user: User): Promise<AccessRequest> {
  const columns = { user_id: user.id, ...parentColumns(subject), created_at_ms: tx.nowMs }
  return requestOf(await insertRow(tx, 'access_requests', columns), user)
}

export const deleteAccessRequest = (tx: Tx, id: number): Promise<void> => deleteRow(tx, 'access_requests', id)

const requestOf = (row: Selectable<CoreTables['access_requests']>, user: User): AccessRequest => ({
  id: row.id,
  user,
  requestedAtMs: row.created_at_ms,
})
