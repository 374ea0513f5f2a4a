import { type Kysely, sql } from 'kysely'
import type { ObserveTables } from '../schema/tables.ts'
import type { StoreBounds } from './observe-limits.ts'
import { findOldestSlice, readSpace } from './retention-store.ts'

export interface ObserveStatus {
  /** A sentence that says what this store is for. */
  readonly purpose: string
  /** This and the two sizes are `null` if the store is not ours to limit. */
  readonly retention_seconds: number | null
  readonly max_bytes: number | null
  readonly used_bytes: number | null
  readonly oldest_received_at: string | null
  readonly kept: RowCounts
}

export interface RowCounts {
  readonly spans: number
  readonly log_records: number
  readonly points: number
}

const PURPOSE =
  'A store for a laptop and for the first five minutes: one process, one file, bounded in age and size. ' +
  'For anything more, set an upstream.'

export async function storeStatus(db: Kysely<ObserveTables>, bounds: StoreBounds): Promise<ObserveStatus> {
  const oldest = await findOldestSlice(db)
  const { pageBytes, pages, freePages } = await readSpace(db)
  return {
    purpose: PURPOSE,
    retention_seconds: bounds.retentionMs / 1000,
    max_bytes: bounds.maxFileBytes,
    used_bytes: (pages - freePages) * pageBytes,
    oldest_received_at: oldest === undefined ? null : new Date(oldest.started_ms).toISOString(),
    kept: await rowCounts(db),
  }
}

/**
 * Returns the number of rows. Rows are deleted in the order of their ids, so the first and the last id
 * give the number. SQLite looks each of them up without a scan only if they are separate queries.
 */
export async function rowCounts(db: Kysely<ObserveTables>): Promise<RowCounts> {
  const { rows } = await sql<RowCounts>`select
    coalesce((select max(id) from spans) - (select min(id) from spans) + 1, 0) as spans,
    coalesce((select max(id) from log_records) - (select min(id) from log_records) + 1, 0) as log_records,
    coalesce((select max(id) from points) - (select min(id) from points) + 1, 0) as points`.execute(db)
  return rows[0]!
}
