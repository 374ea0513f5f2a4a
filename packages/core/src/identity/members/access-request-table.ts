import type { Generated } from 'kysely'
import type { Subject } from '../../base/access/subject.ts'
import type { WriteContext } from '../../base/kit/store-context.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import { belongsTo, type ParentColumns, type ParentRef, parentColumn } from '../../base/model/parent.ts'
import { lineageOf } from '../groups/group-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    access_requests: AccessRequestsTable
  }
}

/** The requests for a role. They are stored beside the members, because a new role deletes them. */
interface AccessRequestsTable extends ParentColumns {
  id: Generated<number>
  user_id: number
  created_at_ms: number
}

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
