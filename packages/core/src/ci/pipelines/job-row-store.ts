import { sql } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type JobRow, jobQuery } from './job-store.ts'

/**
 * Details longer than this are not read with the row, because those of one job may be longer than those of all others
 * together.
 */
const SHORT_BYTES = 4 * 1024
/** The limit of details read by one statement, unless one job alone has more. */
const BYTES_PER_STATEMENT = 4 * 1024 * 1024

/** A job row without long details. */
export interface JobHead extends Omit<JobRow, 'details'> {
  /** Null if the details are long. */
  readonly details: string | null
  readonly details_bytes: number
}

const detailsBytes = sql<number>`octet_length(pipeline_jobs.details)`

/** Returns the query of `jobQuery` with the columns of a head. */
export const jobHeadQuery = (...args: Parameters<typeof jobQuery>) =>
  jobQuery(...args)
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
      'pipeline_jobs.is_posted',
      detailsBytes.as('details_bytes'),
      sql<string | null>`case when ${detailsBytes} <= ${sql.lit(SHORT_BYTES)} then pipeline_jobs.details end`.as(
        'details',
      ),
    ])

/**
 * Returns the rows in input order. Those with long details are read again, and are `undefined` if deleted in between.
 */
export async function jobRowsOf({ db }: ReadContext, heads: readonly JobHead[]): Promise<(JobRow | undefined)[]> {
  const long = new Map<number, JobRow>()
  for (const ids of longDetailsBatches(heads)) {
    // Reads the whole row, because the head may be outdated and not match the details.
    const rows = await db.selectFrom('pipeline_jobs').selectAll().where('id', 'in', ids).execute()
    for (const row of rows) long.set(row.id, row)
  }
  return heads.map(({ details_bytes: _, details, ...head }) =>
    details === null ? long.get(head.id) : { ...head, details },
  )
}

function* longDetailsBatches(heads: readonly JobHead[]): Generator<number[]> {
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
