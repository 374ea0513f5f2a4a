import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { containsText } from '../../base/kit/contains-text.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor, User } from '../../base/model/user.ts'
import type { Tx } from '../../base/operations/context.ts'
import { userColumns, userOf } from '../users/user-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    project_stars: ProjectStarsTable
  }
}

interface ProjectStarsTable {
  project_id: number
  user_id: number
  created_at_ms: number
}

/** A user who has starred a project. */
export interface Starrer {
  readonly user: User
  readonly starredAtMs: number
}

/** Selects the projects that the user has starred. */
export const isStarredBy = (userId: number): RawBuilder<SqlBool> =>
  sql<SqlBool>`projects.id in (select project_id from project_stars where user_id = ${userId})`

/** The number of stars of the row of `projects` in the outer query. */
export const starCount = sql<number>`(select count(*) from project_stars where project_stars.project_id = projects.id)`

/** Returns the number of stars by project. Projects without stars are missing. */
export async function starCountsOf(
  { db }: ReadContext,
  projectIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('project_stars')
    .select(['project_id', ({ fn }) => fn.countAll<number>().as('count')])
    .where('project_id', 'in', [...new Set(projectIds)])
    .groupBy('project_id')
    .execute()
  return new Map(rows.map(({ project_id, count }) => [project_id, Number(count)]))
}

/**
 * Returns a page of the users who have starred a project, by id. Private profiles are shown to administrators and to their
 * users only.
 */
export async function pageOfStarrers(
  context: ReadContext,
  actor: Actor,
  { projectId, search }: { readonly projectId: number; readonly search: string | undefined },
  page: PageRequest,
): Promise<Page<Starrer>> {
  const all = context.db
    .selectFrom('users')
    .innerJoin('project_stars', 'project_stars.user_id', 'users.id')
    .select(userColumns)
    .select('project_stars.created_at_ms as starred_at_ms')
    .where('project_stars.project_id', '=', projectId)
    .$if(search !== undefined, (query) => query.where(containsText(context, ['users.name', 'users.username'], search!)))
    .$if(actor?.isAdministrator !== true, (query) =>
      query.where((eb) =>
        eb.or([
          eb(sql`jsonb(users.settings) ->> 'private_profile'`, 'is', null),
          ...(actor === undefined ? [] : [eb('users.id', '=', actor.id)]),
        ]),
      ),
    )
    .orderBy('users.id')
  return mapPage(await pageOf(context, all, page), ({ starred_at_ms, ...row }) => ({
    user: userOf(row),
    starredAtMs: starred_at_ms,
  }))
}

/** Returns false if the user had already starred the project. */
export async function insertStar({ db, nowMs }: Tx, projectId: number, userId: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('project_stars')
    .values({ project_id: projectId, user_id: userId, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doNothing())
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows) > 0
}

/** Returns false if the user had not starred the project. */
export async function deleteStar({ db }: Tx, projectId: number, userId: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('project_stars')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows) > 0
}
