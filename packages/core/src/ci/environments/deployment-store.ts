import { Lookup, RowInsertion } from '@penstock/db'
import type { Insertable, Selectable } from 'kysely'
import { chunked } from '../../base/kit/chunked.ts'
import { type ColumnsOf, columnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { takeIids } from '../../base/kit/internal-id.ts'
import { type Page, pageOfItems } from '../../base/kit/page.ts'
import { deleteRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { type DeploymentFilter, type DeploymentRecord, deploymentFields } from './deployment.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    deployments: DeploymentsTable
  }
}

interface DeploymentsTable extends ColumnsOf<typeof deploymentFields> {}

const deploymentOf = (row: Selectable<DeploymentsTable>): DeploymentRecord => fromRow(deploymentFields, row)
const { id: _, ...storedFields } = deploymentFields

const orderColumns = {
  id: 'deployments.id',
  iid: 'deployments.iid',
  created_at: 'deployments.created_at_ms',
  updated_at: 'deployments.updated_at_ms',
  finished_at: 'deployments.finished_at_ms',
  ref: 'deployments.ref',
} as const

export function pageOfDeployments(
  context: ReadContext,
  { id }: Pick<Project, 'id'>,
  filter: DeploymentFilter,
): Promise<Page<DeploymentRecord>> {
  const { orderBy, sort, environment, status, updatedAfter, updatedBefore, finishedAfter, finishedBefore } = filter
  const query = context.db
    .selectFrom('deployments')
    .selectAll()
    .where('deployments.project_id', '=', id)
    .$if(!!environment, (all) =>
      all.where('environment_id', 'in', (eb) =>
        eb
          .selectFrom('environments')
          .select('environments.id')
          .where('environments.project_id', '=', id)
          .where('environments.name', '=', environment!),
      ),
    )
    .$if(status !== undefined, (all) => all.where('status', '=', status!))
    .$if(updatedAfter !== undefined, (all) => all.where('updated_at_ms', '>', updatedAfter!))
    .$if(updatedBefore !== undefined, (all) => all.where('updated_at_ms', '<', updatedBefore!))
    .$if(finishedAfter !== undefined, (all) => all.where('finished_at_ms', '>', finishedAfter!))
    .$if(finishedBefore !== undefined, (all) => all.where('finished_at_ms', '<', finishedBefore!))
    .orderBy(orderColumns[orderBy], sort)
    .$if(orderBy !== 'id', (all) => all.orderBy('deployments.id', orderBy === 'updated_at' ? 'desc' : sort))
  return pageOfItems(context, query, filter, deploymentOf)
}

export async function findDeployment(
  { db }: ReadContext,
  { id: projectId }: Pick<Project, 'id'>,
  id: number,
): Promise<DeploymentRecord | undefined> {
  const query = db.selectFrom('deployments').selectAll().where('project_id', '=', projectId).where('id', '=', id)
  const row = await query.executeTakeFirst()
  return row && deploymentOf(row)
}

export async function deploymentById({ db }: ReadContext, id: number): Promise<DeploymentRecord | undefined> {
  const row = await db.selectFrom('deployments').selectAll().where('id', '=', id).executeTakeFirst()
  return row && deploymentOf(row)
}

/** Returns the newest successful deployment of each environment, by environment. */
export async function lastDeployments(
  { db }: ReadContext,
  environmentIds: readonly number[],
): Promise<Map<number, DeploymentRecord>> {
  const found = new Map<number, DeploymentRecord>()
  for (const some of chunked([...new Set(environmentIds)])) {
    const newest = db
      .selectFrom('deployments')
      .select(({ fn }) => fn.max('id').as('id'))
      .where('environment_id', 'in', some)
      .where('status', '=', 'success')
      .groupBy('environment_id')
    const rows = await db.selectFrom('deployments').selectAll().where('id', 'in', newest).execute()
    for (const row of rows) found.set(row.environment_id, deploymentOf(row))
  }
  return found
}

/** Returns the deployments of these rows of jobs, by row. */
export async function deploymentsOfJobs(
  { db }: ReadContext,
  jobKeys: readonly number[],
): Promise<Map<number, DeploymentRecord>> {
  const found = new Map<number, DeploymentRecord>()
  for (const some of chunked(jobKeys)) {
    for (const row of await ofJobs.all(db, ...some)) found.set(row.job_key!, deploymentOf(row))
  }
  return found
}

const ofJobs = new Lookup((db: ReadContext['db'], ...jobKeys: number[]) =>
  db.selectFrom('deployments').selectAll().where('job_key', 'in', jobKeys),
)

/** Inserting more would take the event loop for too long. */
const INSERTED_AT_ONCE = 32

type NewDeployment = Omit<DeploymentRecord, 'id' | 'iid' | 'projectId' | 'updatedAtMs'>

/** Stores deployments of a project with its next numbers, and returns them in the same order. */
export async function insertDeployments(
  tx: Tx,
  projectId: number,
  drafts: readonly NewDeployment[],
): Promise<DeploymentRecord[]> {
  const inserted: DeploymentRecord[] = []
  for (const some of chunked(drafts, INSERTED_AT_ONCE)) {
    const first = await takeIids(tx, { projectId }, 'deployments', some.length)
    const rows = some.map((draft, index) =>
      toRow(storedFields, { ...draft, projectId, iid: first + index, updatedAtMs: tx.nowMs }),
    )
    const stored = await insertRows.returned(tx.db, rows)
    inserted.push(...stored.map(deploymentOf).sort((a, b) => a.iid - b.iid))
  }
  return inserted
}

const insertRows = new RowInsertion<CoreTables, Insertable<DeploymentsTable>, Selectable<DeploymentsTable>>(
  columnsOf(storedFields),
  (tx, rows) => tx.insertInto('deployments').values(rows).returningAll(),
)

export const setDeploymentStatus = async (
  tx: Tx,
  { id, status, finishedAtMs }: Pick<DeploymentRecord, 'id' | 'status' | 'finishedAtMs'>,
): Promise<DeploymentRecord> =>
  deploymentOf(
    await updateRow(tx, 'deployments', id, {
      status,
      finished_at_ms: finishedAtMs ?? null,
      updated_at_ms: tx.nowMs,
    }),
  )

export const deleteDeployment = (tx: Tx, id: number) => deleteRow(tx, 'deployments', id)
