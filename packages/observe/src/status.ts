import type { Db } from '@penstock/db'
import { sql } from 'kysely'
import type { ObserveTables } from './tables.ts'

export interface ObserveStatus {
  /** In words: what this store is for. */
  readonly purpose: string
  readonly retention_seconds: number
  readonly max_bytes: number
  readonly used_bytes: number
  readonly oldest_received_at: string | null
  readonly kept: RowCounts
}

export interface RowCounts {
  readonly spans: number
  readonly log_records: number
  readonly points: number
}

/** Rows go in order of their ids, so the first and the last tell how many there are without reading those between. */
export async function rowCounts(db: Db<ObserveTables>): Promise<RowCounts> {
  const { rows } = await sql<RowCounts>`select
    (select coalesce(max(id) - min(id) + 1, 0) from spans) as spans,
    (select coalesce(max(id) - min(id) + 1, 0) from log_records) as log_records,
    (select coalesce(max(id) - min(id) + 1, 0) from points) as points`.execute(db.read)
  return rows[0]!
}
