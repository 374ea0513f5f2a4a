import type { Transaction } from 'kysely'
import type { CoreTables } from '../kit/tables.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    routes: RoutesTable
  }
}

/** Which URL belongs to whom; one of the three ids is set. */
export interface RoutesTable {
  /** Full path, in lower case. */
  path: string
  user_id: number | null
  group_id: number | null
  project_id: number | null
  /** Of a project that has moved since. */
  is_former: number
}

/** Takes over the path when it is a former one. @throws the database's error when it is in use */
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
