import { sql } from 'kysely'
import type { ReadContext } from '../kit/context.ts'
import { type JobRow, wantedJobs } from './job-store.ts'

/** Rows of many jobs at once, each of which may have more to tell than all others together. */

/** What is longer than this is not read with its row. */
const SHORT_BYTES = 4 * 1024
/** As much is read by one statement, unless one job alone has more. */
const BYTES_PER_STATEMENT = 4 * 1024 * 1024

/** Of one whose details are long there are none. */
export interface JobHead extends Omit<JobRow, 'details'> {
  readonly details: string | null
  readonly details_bytes: number
}

const detailsBytes = sql<number>`octet_length(pipeline_jobs.details)`

/** The same jobs as `wantedJobs`. */
export const wantedJobHeads = (...asked: Parameters<typeof wantedJobs>) =>
  wantedJobs(...asked)
    .clearSelect()
    .select([
      'pipeline_jobs.id',
      'pipeline_jobs.pipeline_key',
      'pipeline_jobs.project_id',
      'pipeline_jobs.job_id',
      'pipeline_jobs.number',
      'pipeline_jobs.is_bridge',
      'pipeline_jobs.is_retried',
      'pipeline_jobs.status',
      detailsBytes.as('details_bytes'),
      sql<string | null>`case when ${detailsBytes} <= ${sql.lit(SHORT_BYTES)} then pipeline_jobs.details end`.as(
        'details',
      ),
    ])

/** In their order: the long ones as they are by now, `undefined` for those that have gone meanwhile. */
export async function jobRowsOf({ db }: ReadContext, heads: readonly JobHead[]): Promise<(JobRow | undefined)[]> {
  const long = new Map<number, JobRow>()
  for (const ids of longInParts(heads)) {
    // All of the row: what has changed since its head was read would not agree with that.
    const rows = await db.selectFrom('pipeline_jobs').selectAll().where('id', 'in', ids).execute()
    for (const row of rows) long.set(row.id, row)
  }
  return heads.map(({ details_bytes: _, details, ...head }) =>
    details === null ? long.get(head.id) : { ...head, details },
  )
}

function* longInParts(heads: readonly JobHead[]): Generator<number[]> {
  let ids: number[] = []
  let bytes = 0
  for (const { id, details, details_bytes } of heads) {
    if (details !== null) continue
    if (ids.length > 0 && bytes + details_bytes > BYTES_PER_STATEMENT) {
      yield ids
      ids = []
      bytes = 0
    }
    ids.push(id)
    bytes += details_bytes
  }
  if (ids.length > 0) yield ids
}
