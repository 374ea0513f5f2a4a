import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isOneOf } from '../../base/kit/conditions.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    project_topics: ProjectTopicsTable
  }
}

interface ProjectTopicsTable {
  project_id: number
  /** The place in the project's list. */
  position: number
  name: string
  /** The name in lower case, by which topics are found. */
  folded_name: string
}

/** Replaces the topics of a project. Blank and repeated names are left out. */
export async function saveTopics({ db }: Pick<Tx, 'db'>, projectId: number, names: readonly string[]): Promise<void> {
  const byFolded = new Map<string, string>()
  for (const name of names.map((each) => each.trim())) {
    if (name !== '' && !byFolded.has(name.toLowerCase())) byFolded.set(name.toLowerCase(), name)
  }
  await db.deleteFrom('project_topics').where('project_id', '=', projectId).execute()
  if (byFolded.size === 0) return
  const rows = [...byFolded].map(([folded_name, name], position) => ({
    project_id: projectId,
    position,
    name,
    folded_name,
  }))
  await db.insertInto('project_topics').values(rows).execute()
}

/** Returns the topics of each project, in a map by project. Each list has the order in which the project stores it. */
export async function topicsOf(
  { db }: ReadContext,
  projectIds: readonly number[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (projectIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('project_topics')
    .select(['project_id', 'name'])
    .where('project_id', 'in', [...new Set(projectIds)])
    .orderBy('project_id')
    .orderBy('position')
    .execute()
  const topics = new Map<number, string[]>()
  for (const { project_id, name } of rows) topics.set(project_id, [...(topics.get(project_id) ?? []), name])
  return topics
}

/** Selects the projects that have all of these topics. */
export const hasTopics = (names: readonly string[]): RawBuilder<SqlBool>[] =>
  names.map(
    (name) =>
      sql<SqlBool>`projects.id in (select project_id from project_topics where ${isOneOf(sql.ref('folded_name'), [
        name.toLowerCase(),
      ])})`,
  )
