import { Lookup } from '@penstock/db'
import type { Selectable } from 'kysely'
import { chunked } from '../../base/kit/chunked.ts'
import { containsText } from '../../base/kit/contains-text.ts'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { countRows, deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { type Environment, type EnvironmentFilter, environmentFields, MAX_ENVIRONMENTS } from './environment.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    environments: EnvironmentsTable
  }
}

interface EnvironmentsTable extends ColumnsOf<typeof environmentFields> {}

type InProject = Pick<Project, 'id'>

/** The beginning of the names of review apps. */
const REVIEW_FOLDER = 'review/'

const environmentOf = (row: Selectable<EnvironmentsTable>): Environment => fromRow(environmentFields, row)
const { id: _, ...storedFields } = environmentFields

const environmentsOf = ({ db }: Pick<ReadContext, 'db'>, { id }: InProject) =>
  db.selectFrom('environments').selectAll().where('project_id', '=', id)

/** Returns a page of environments, ordered by name. */
export function pageOfEnvironments(
  context: ReadContext,
  project: InProject,
  { name, search, states, ...page }: EnvironmentFilter & PageRequest,
): Promise<Page<Environment>> {
  const query = environmentsOf(context, project)
    .$if(!!name, (all) => all.where('name', '=', name!))
    .$if(!!search, (all) => all.where(containsText(context, ['environments.name'], search!)))
    .$if(states !== undefined, (all) => all.where('state', '=', states!))
    .orderBy('name')
    .orderBy('id')
  return pageOfItems(context, query, page, environmentOf)
}

export async function findEnvironment(
  context: ReadContext,
  project: InProject,
  id: number,
): Promise<Environment | undefined> {
  const row = await environmentsOf(context, project).where('id', '=', id).executeTakeFirst()
  return row && environmentOf(row)
}

/** Returns the environments with these names, by name. */
export async function environmentsByName(
  context: ReadContext,
  project: InProject,
  names: Iterable<string>,
): Promise<Map<string, Environment>> {
  const found = new Map<string, Environment>()
  for (const some of chunked([...new Set(names)])) {
    const rows = await byName.all(context.db, project.id, ...some)
    for (const row of rows) found.set(row.name, environmentOf(row))
  }
  return found
}

const byName = new Lookup((db: ReadContext['db'], projectId: number, ...names: string[]) =>
  environmentsOf({ db }, { id: projectId }).where('name', 'in', names),
)

export async function environmentsById({ db }: ReadContext, ids: Iterable<number>): Promise<Map<number, Environment>> {
  const found = new Map<number, Environment>()
  for (const some of chunked([...new Set(ids)])) {
    const rows = await db.selectFrom('environments').selectAll().where('id', 'in', some).execute()
    for (const row of rows) found.set(row.id, environmentOf(row))
  }
  return found
}

/** Returns whether the project may have another environment. */
export const hasRoom = async (context: Pick<Tx, 'db'>, { id }: InProject): Promise<boolean> =>
  (await countRows(context, 'environments', (eb) => eb('project_id', '=', id))) < MAX_ENVIRONMENTS

export const insertEnvironment = async (tx: Tx, draft: Omit<Environment, 'id'>): Promise<Environment> =>
  environmentOf(await insertRow(tx, 'environments', toRow(storedFields, draft)))

/** Stores all fields, and the present as the time of the last change. */
export const updateEnvironmentRow = async (tx: Tx, { id, ...draft }: Environment): Promise<Environment> =>
  environmentOf(
    await updateRow(tx, 'environments', id, { ...toRow(storedFields, { ...draft, updatedAtMs: tx.nowMs }) }),
  )

export const deleteEnvironment = (tx: Pick<Tx, 'db'>, id: number) => deleteRow(tx, 'environments', id)

/** Returns available environments that have not been changed, and not deployed to, since a time; the least recently changed first. */
export async function staleEnvironments(
  context: ReadContext,
  project: InProject,
  beforeMs: number,
  limit: number,
): Promise<Environment[]> {
  const rows = await environmentsOf(context, project)
    .where('state', '=', 'available')
    .where('updated_at_ms', '<', beforeMs)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('deployments')
            .select('deployments.id')
            .whereRef('deployments.environment_id', '=', 'environments.id')
            .where('deployments.updated_at_ms', '>=', beforeMs),
        ),
      ),
    )
    .orderBy('updated_at_ms')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(environmentOf)
}

/** Returns stopped environments in the folder `review`, the oldest first, without those that are going to be deleted. */
export async function oldReviewApps(
  context: ReadContext,
  project: InProject,
  beforeMs: number,
  limit: number,
): Promise<Environment[]> {
  const rows = await environmentsOf(context, project)
    .where('state', '=', 'stopped')
    // Unlike `like`, it distinguishes letter case in both databases.
    .where(({ fn, val }) => fn<string>('substr', ['name', val(1), val(REVIEW_FOLDER.length)]), '=', REVIEW_FOLDER)
    .where('created_at_ms', '<', beforeMs)
    .where('auto_delete_at_ms', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(environmentOf)
}

/** Returns environments that are due for deletion. */
export async function environmentsToDelete({ db, nowMs }: ReadContext, limit: number): Promise<Environment[]> {
  const due = db.selectFrom('environments').selectAll().where('auto_delete_at_ms', '<=', nowMs)
  return (await due.orderBy('auto_delete_at_ms').limit(limit).execute()).map(environmentOf)
}
