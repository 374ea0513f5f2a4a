import type { Generated, Selectable } from 'kysely'
import type { Subject } from '../access/subject.ts'
import { lineageOf } from '../groups/group-store.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../kit/page.ts'
import { deleteRow, insertRow } from '../kit/row-store.ts'
import type { ReadContext, WriteContext } from '../kit/store-context.ts'
import { type AccessLevel, accessLevels } from '../model/access-level.ts'
import { belongsTo, type ParentColumns, type ParentRef, parentColumn, parentColumns } from '../model/parent.ts'
import type { User } from '../model/user.ts'
import type { Tx } from '../operations/context.ts'
import { findUsers } from '../users/user-store.ts'
import type { AccessRequest } from './access-request.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    access_requests: AccessRequestsTable
  }
}

interface AccessRequestsTable extends ParentColumns {
  id: Generated<number>
  user_id: number
  created_at_ms: number
}

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

/** Deletes all requests for a role in the group or project itself. */
export async function deleteAccessRequestsFor({ db }: Pick<WriteContext, 'db'>, subject: ParentRef): Promise<void> {
  await db.deleteFrom('access_requests').where(belongsTo(subject)).execute()
}

/**
 * Deletes the requests of a user that a role in the subject has settled: those for the subject, and those for everything
 * below it that inherits the role. Minimal access is not inherited.
 */
export async function deleteSettledRequests(
  { db }: Pick<WriteContext, 'db'>,
  subject: Subject,
  { userId, level }: { readonly userId: number; readonly level: AccessLevel },
): Promise<void> {
  const isInherited = subject.kind === 'group' && level > accessLevels.minimal
  const below = `${lineageOf(subject.groupIds)}%`
  // Starts from the user's requests, which are few, and not from what is below the group.
  const settled = db
    .selectFrom('access_requests')
    .leftJoin('groups', 'groups.id', 'access_requests.group_id')
    .leftJoin('projects', 'projects.id', 'access_requests.project_id')
    .select('access_requests.id')
    .where('access_requests.user_id', '=', userId)
    .where((eb) =>
      isInherited
        ? eb.or([eb('groups.lineage', 'like', below), eb('projects.lineage', 'like', below)])
        : eb(`access_requests.${parentColumn(subject)}`, '=', subject.id),
    )
  await db.deleteFrom('access_requests').where('id', 'in', settled).execute()
}

const requestOf = (row: Selectable<AccessRequestsTable>, user: User): AccessRequest => ({
  id: row.id,
  user,
  requestedAtMs: row.created_at_ms,
})
