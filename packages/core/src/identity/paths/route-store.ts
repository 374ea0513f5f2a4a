import { type Kysely, type SqlBool, sql, type Transaction } from 'kysely'
import type { CoreTables } from '../../base/kit/tables.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    routes: RoutesTable
  }
}

/** The owners of paths. Exactly one of the three ids is set. */
interface RoutesTable {
  /** The full path, in lower case. */
  path: string
  user_id: number | null
  group_id: number | null
  project_id: number | null
  /** 1 if this is an earlier path of a project that has moved. */
  is_former: number
}

/** Returns whether a user, group or project has the path. Former paths do not count: they can be taken over. */
export async function isPathInUse(db: Kysely<CoreTables>, fullPath: string): Promise<boolean> {
  const row = await db
    .selectFrom('routes')
    .select('path')
    .where('path', '=', fullPath.toLowerCase())
    .where('is_former', '=', 0)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns whether a user or group has the path. */
export async function isNamespacePath(db: Kysely<CoreTables>, fullPath: string): Promise<boolean> {
  const row = await db
    .selectFrom('routes')
    .select('path')
    .where('path', '=', fullPath.toLowerCase())
    .where('project_id', 'is', null)
    .where('is_former', '=', 0)
    .executeTakeFirst()
  return row !== undefined
}

/** Inserts a route; takes the path over if it is a former one. @throws the database's error if it is in use */
export async function insertRoute(
  db: Transaction<CoreTables>,
  fullPath: string,
  owner: Partial<Pick<RoutesTable, 'user_id' | 'group_id' | 'project_id'>>,
): Promise<void> {
  const path = fullPath.toLowerCase()
  await db.deleteFrom('routes').where('path', '=', path).where('is_former', '=', 1).execute()
  await db
    .insertInto('routes')
    .values({ path, user_id: null, group_id: null, project_id: null, is_former: 0, ...owner })
    .execute()
}

/**
 * Moves the routes at `from` and below to `to`, which must be free. Users and groups lose their old routes; projects keep
 * them as former ones.
 */
export async function moveRoutes(db: Transaction<CoreTables>, from: string, to: string): Promise<void> {
  const [old, next] = [from.toLowerCase(), to.toLowerCase()]
  if (old === next) return
  const moved = sql<string>`${next} || substr(path, ${sql.lit(old.length + 1)})`
  await db.deleteFrom('routes').where(isAtOrBelow(next)).where('is_former', '=', 1).execute()
  await db.updateTable('routes').set({ path: moved }).where(isAtOrBelow(old)).where('project_id', 'is', null).execute()
  const rows = await db
    .selectFrom('routes')
    .select(['path', 'project_id'])
    .where(isAtOrBelow(old))
    .where('project_id', 'is not', null)
    .where('is_former', '=', 0)
    .execute()
  await db
    .updateTable('routes')
    .set({ is_former: 1 })
    .where(isAtOrBelow(old))
    .where('project_id', 'is not', null)
    .execute()
  for (const { path, project_id } of rows) await insertRoute(db, next + path.slice(old.length), { project_id })
}

/** Selects a path and the paths below it. Does not use `like`, which takes `_` in a path for any character. */
const isAtOrBelow = (path: string) =>
  sql<SqlBool>`(path = ${path} or substr(path, 1, ${sql.lit(path.length + 1)}) = ${`${path}/`})`
