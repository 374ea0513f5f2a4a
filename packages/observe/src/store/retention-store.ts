import { type Kysely, sql, type Transaction } from 'kysely'
import { deletePipelineRowsWithoutSpans } from '../runs/pipeline-row-store.ts'
import type { ObserveTables } from '../schema/tables.ts'

export interface Space {
  readonly pageBytes: number
  readonly pages: number
  /** The number of unused pages. */
  readonly freePages: number
}

/** The highest number of rows per table that one step deletes, because other writers wait for it. */
export const ROWS_PER_STEP = 500

export async function readSpace(db: Kysely<ObserveTables>): Promise<Space> {
  const { rows } = await sql<{ page_size: number; page_count: number; freelist_count: number }>`
    select * from pragma_page_size(), pragma_page_count(), pragma_freelist_count()`.execute(db)
  const { page_size, page_count, freelist_count } = rows[0]!
  return { pageBytes: page_size, pages: page_count, freePages: freelist_count }
}

/** Returns the last slice that began before `ms`; `undefined` if there is none. */
export async function findLastSliceBefore(db: Kysely<ObserveTables>, ms: number): Promise<number | undefined> {
  const found = await db
    .selectFrom('slices')
    .select((eb) => eb.fn.max('id').as('id'))
    .where('started_ms', '<', ms)
    .executeTakeFirst()
  return found?.id ?? undefined
}

/** Returns the oldest slice; `undefined` if the store is empty. */
export async function findOldestSlice(db: Kysely<ObserveTables>) {
  return db.selectFrom('slices').select(['id', 'started_ms']).orderBy('id').limit(1).executeTakeFirst()
}

/**
 * Deletes some of the oldest rows, up to and including a slice. When no row of these slices is left, it also deletes
 * the shared rows that were last used in them. No row refers to these any more, because a reference is never newer than
 * the last use.
 *
 * @returns whether nothing is left to delete up to this slice
 */
export async function deleteSome(
  tx: Transaction<ObserveTables>,
  upToSliceId: number,
  rowsPerTable = ROWS_PER_STEP,
): Promise<boolean> {
  let deleted = 0
  for (const table of ['spans', 'log_records', 'points'] as const) {
    const oldest = tx.selectFrom(table).select('id').orderBy('id').limit(rowsPerTable)
    const result = await tx
      .deleteFrom(table)
      .where('id', 'in', oldest)
      .where('slice_id', '<=', upToSliceId)
      .executeTakeFirst()
    deleted += Number(result.numDeletedRows)
  }
  await deletePipelineRowsWithoutSpans(tx)
  if (deleted > 0) return false
  for (const table of ['services', 'documents', 'series', 'trace_parts', 'trace_attributes'] as const) {
    await tx.deleteFrom(table).where('used_slice_id', '<=', upToSliceId).execute()
  }
  await tx.deleteFrom('slices').where('id', '<=', upToSliceId).execute()
  return true
}
