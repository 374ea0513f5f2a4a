import { setImmediate } from 'node:timers/promises'
import { Lookup, RowInsertion } from '@penstock/db'
import { chunked } from '../../base/kit/chunked.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Tx } from '../../base/operations/context.ts'
import { assignGlobalNumbers, claimGlobalNumbers } from './global-number-store.ts'
import type { JobColumns, JobDetails } from './job-columns.ts'
import type { JobRow } from './job-store.ts'
import type { Pipeline } from './pipeline.ts'
import { nextStageOrder } from './stage-order.ts'

/** The number of rows written before the event loop gets a turn. Writing them takes a few milliseconds. */
const ROWS_PER_TURN = 256

/**
 * The statuses before and after a record, by job id. They include only jobs that the record adds and jobs that get
 * another status.
 */
interface JobStatusChange {
  readonly previous: Readonly<Record<number, string>>
  readonly current: Readonly<Record<number, string>>
}

/** Inserts the jobs of a new pipeline, or the new jobs of an existing one. */
export async function insertJobs(tx: Tx, pipeline: Pipeline, jobs: readonly JobColumns[]): Promise<JobStatusChange> {
  for (let at = 0; at < jobs.length; at += ROWS_PER_TURN) {
    if (at > 0) await setImmediate()
    await insertRows.run(tx.db, await withGlobalNumbers(tx, rowsOf(pipeline, jobs.slice(at, at + ROWS_PER_TURN))))
  }
  return { previous: {}, current: statusesOf(jobs) }
}

const statusesOf = (jobs: readonly Pick<JobColumns, 'job_id' | 'status'>[]): Readonly<Record<number, string>> =>
  Object.fromEntries(jobs.map(({ job_id, status }) => [job_id, status]))

/**
 * Adds to each job the number of its Global ID. If another pipeline of the project already has a job with the same id,
 * the job gets a number of its own.
 */
async function withGlobalNumbers(tx: Tx, rows: readonly JobRowDraft[]): Promise<NewRow[]> {
  const projectId = rows[0]!.project_id
  const ids = rows.map((row) => row.job_id)
  const listed = await listedJobs.all(tx.db, projectId, ...ids)
  const isListed = new Set(listed.map((row) => row.job_id))
  const [again, first] = [ids.filter((id) => isListed.has(id)), ids.filter((id) => !isListed.has(id))]
  const claimed = await claimGlobalNumbers(tx, 'job_numbers', projectId, first)
  const assigned = await assignGlobalNumbers(tx, 'job_numbers', projectId, again)
  return rows.map((row) => {
    const number = claimed.get(row.job_id) ?? assigned.get(row.job_id)!
    return { ...row, number: number === row.job_id ? null : number }
  })
}

const listedJobs = new Lookup((db: ReadContext['db'], projectId: number, ...ids: number[]) =>
  db.selectFrom('pipeline_jobs').select('job_id').where('project_id', '=', projectId).where('job_id', 'in', ids),
)

/**
 * Replaces the jobs of a pipeline. Unchanged rows are not written; rows of changed jobs keep their ids.
 *
 * @param stages the stages of these jobs, in the order of their first jobs
 */
export async function setJobs(
  tx: Tx,
  pipeline: Pipeline,
  jobs: readonly JobColumns[],
  stages: readonly string[],
): Promise<JobStatusChange> {
  const { db } = tx
  const former: JobRow[] = []
  const removed = new Map<number, number>()
  const changed: JobColumns[] = []
  const wanted = new Map(jobs.map((job) => [job.job_id, job]))
  const before = new Set<number>()
  const formerStages = new Set<string>()
  for await (const stored of storedJobs(tx, pipeline)) {
    before.add(stored.job_id)
    const { stage } = JSON.parse(stored.details) as JobDetails
    if (stage !== undefined) formerStages.add(stage)
    const job = wanted.get(stored.job_id)
    if (job === undefined) removed.set(stored.job_id, stored.id)
    else if (!isSame(job, stored)) changed.push(job)
    if (job !== undefined && job.status !== stored.status) former.push(stored)
  }
  const order = nextStageOrder(pipeline.stageOrder, [...formerStages], stages)
  if (order !== undefined && order.length !== pipeline.stageOrder?.length) {
    const text = JSON.stringify(order)
    await db.updateTable('pipelines').set({ stage_order: text }).where('id', '=', pipeline.key).execute()
  }
  for (const ids of chunked([...removed.values()]))
    await db.deleteFrom('pipeline_jobs').where('id', 'in', ids).execute()
  for (let at = 0; at < changed.length; at += ROWS_PER_TURN) {
    if (at > 0) await setImmediate()
    await upsertRows.run(db, rowsOf(pipeline, changed.slice(at, at + ROWS_PER_TURN)))
  }
  const { current } = await insertJobs(
    tx,
    pipeline,
    jobs.filter((job) => !before.has(job.job_id)),
  )
  const again = former.map(({ job_id }) => wanted.get(job_id)!)
  return { previous: statusesOf(former), current: { ...statusesOf(again), ...current } }
}

/** Yields the stored jobs of a pipeline in small batches, with a turn of the event loop in between. */
async function* storedJobs({ db }: Tx, pipeline: Pipeline): AsyncGenerator<JobRow> {
  let after = 0
  for (;;) {
    const rows = await db
      .selectFrom('pipeline_jobs')
      .selectAll()
      .where('pipeline_key', '=', pipeline.key)
      .where('is_posted', '=', 0)
      .where('job_id', '>', after)
      .orderBy('job_id')
      .limit(ROWS_PER_TURN)
      .execute()
    yield* rows
    if (rows.length < ROWS_PER_TURN) return
    after = rows.at(-1)!.job_id
    await setImmediate()
  }
}

type JobRowDraft = JobColumns & { readonly pipeline_key: number; readonly project_id: number }
type NewRow = JobRowDraft & { readonly number: number | null }

const rowsOf = ({ key, projectId }: Pipeline, jobs: readonly JobColumns[]): JobRowDraft[] =>
  jobs.map((job) => ({ pipeline_key: key, project_id: projectId, ...job }))

const columns = ['pipeline_key', 'project_id', 'job_id', 'is_bridge', 'is_retried', 'status', 'details'] as const

const insertRows = new RowInsertion<CoreTables, NewRow>([...columns, 'number'], (tx, rows) =>
  tx.insertInto('pipeline_jobs').values(rows),
)

const upsertRows = new RowInsertion<CoreTables, JobRowDraft>(columns, (tx, rows) =>
  tx
    .insertInto('pipeline_jobs')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['pipeline_key', 'job_id']).doUpdateSet(({ ref }) => ({
        is_bridge: ref('excluded.is_bridge'),
        is_retried: ref('excluded.is_retried'),
        status: ref('excluded.status'),
        details: ref('excluded.details'),
      })),
    ),
)

const isSame = (row: JobColumns, stored: JobRow): boolean =>
  row.is_bridge === stored.is_bridge &&
  row.is_retried === stored.is_retried &&
  row.status === stored.status &&
  row.details === stored.details
