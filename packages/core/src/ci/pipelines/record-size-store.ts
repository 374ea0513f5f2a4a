import { Lookup, RowInsertion } from '@penstock/db'
import { type Selectable, sql } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { chargeStorage } from '../../identity/projects/storage-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    pipeline_record_sizes: PipelineRecordSizesTable
  }
}

interface PipelineRecordSizesTable {
  pipeline_key: number
  /** The bytes that were added to the project's usage, so that the same number is subtracted later. */
  bytes: number
}

/** The size of a row's columns and indexes without its text. */
const PIPELINE_ROW_BYTES = 512
const JOB_ROW_BYTES = 256

interface StoredPipeline {
  readonly key: number
  readonly projectId: number
}

/**
 * Adds the size of a newly stored record to the usage of its project, and subtracts that of the record that it
 * replaces.
 *
 * @throws DomainError `storage_full`; the caller must roll the transaction back
 */
export async function chargeRecord(tx: OperationContext & Tx, { key, projectId }: StoredPipeline): Promise<void> {
  const sizes = await measuredSizes.run(tx.db, key)
  const bytes = PIPELINE_ROW_BYTES + Number(sizes!.jobs) * JOB_ROW_BYTES + Number(sizes!.text_bytes)
  await chargeStorage(tx, tx.core, projectId, { recordsBytes: bytes - (sizes!.before ?? 0) })
  await setSizes.run(tx.db, [{ pipeline_key: key, bytes }])
}

const setSizes = new RowInsertion<CoreTables, PipelineRecordSizesTable>(['pipeline_key', 'bytes'], (tx, rows) =>
  tx
    .insertInto('pipeline_record_sizes')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('pipeline_key').doUpdateSet(({ ref }) => ({ bytes: ref('excluded.bytes') })),
    ),
)

/** Subtracts the size of a record from its project, before its pipeline is deleted. */
export async function releaseRecord(tx: OperationContext & Tx, { key, projectId }: StoredPipeline): Promise<void> {
  const before = await sizeOf(tx, key)
  if (before !== undefined) await chargeStorage(tx, tx.core, projectId, { recordsBytes: -before.bytes })
}

const sizeOf = ({ db }: Tx, key: number): Promise<Selectable<PipelineRecordSizesTable> | undefined> =>
  db.selectFrom('pipeline_record_sizes').selectAll().where('pipeline_key', '=', key).executeTakeFirst()

/** Reads the number of the jobs of a pipeline, the bytes of the texts in all its rows, and the size that was counted before. */
const measuredSizes = new Lookup((db: ReadContext['db'], key: number) => {
  const jobs = db.selectFrom('pipeline_jobs').where('pipeline_key', '=', key)
  return db
    .selectFrom('pipelines')
    .leftJoin('pipeline_variables', 'pipeline_variables.pipeline_key', 'pipelines.id')
    .leftJoin('pipeline_record_sizes', 'pipeline_record_sizes.pipeline_key', 'pipelines.id')
    .select(['pipeline_record_sizes.bytes as before', jobs.select(sql<number>`count(*)`.as('count')).as('jobs')])
    .select(
      sql<number>`octet_length(pipelines.details) + coalesce(octet_length(sealed), 0)
        + ${jobs.select(sql<number>`coalesce(sum(octet_length(details)), 0)`.as('bytes'))}`.as('text_bytes'),
    )
    .where('pipelines.id', '=', key)
})
