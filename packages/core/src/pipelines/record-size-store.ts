import { type Selectable, sql } from 'kysely'
import type { OperationContext, Tx } from '../operations/context.ts'
import { chargeStorage } from '../projects/storage-store.ts'

declare module '../kit/tables.ts' {
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
  const before = await sizeOf(tx, key)
  const bytes = await measure(tx, key)
  await chargeStorage(tx, tx.core, projectId, { recordsBytes: bytes - (before?.bytes ?? 0) })
  await tx.db
    .insertInto('pipeline_record_sizes')
    .values({ pipeline_key: key, bytes })
    .onConflict((conflict) => conflict.column('pipeline_key').doUpdateSet({ bytes }))
    .execute()
}

/** Subtracts the size of a record from its project, before its pipeline is deleted. */
export async function releaseRecord(tx: OperationContext & Tx, { key, projectId }: StoredPipeline): Promise<void> {
  const before = await sizeOf(tx, key)
  if (before !== undefined) await chargeStorage(tx, tx.core, projectId, { recordsBytes: -before.bytes })
}

const sizeOf = ({ db }: Tx, key: number): Promise<Selectable<PipelineRecordSizesTable> | undefined> =>
  db.selectFrom('pipeline_record_sizes').selectAll().where('pipeline_key', '=', key).executeTakeFirst()

async function measure({ db }: Tx, key: number): Promise<number> {
  const pipeline = await db
    .selectFrom('pipelines')
    .select(sql<number>`octet_length(details)`.as('bytes'))
    .where('id', '=', key)
    .executeTakeFirstOrThrow()
  const variables = await db
    .selectFrom('pipeline_variables')
    .select(sql<number>`octet_length(sealed)`.as('bytes'))
    .where('pipeline_key', '=', key)
    .executeTakeFirst()
  const jobs = await db
    .selectFrom('pipeline_jobs')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      sql<number>`coalesce(sum(octet_length(details)), 0)`.as('bytes'),
    ])
    .where('pipeline_key', '=', key)
    .executeTakeFirstOrThrow()
  const textBytes = pipeline.bytes + (variables?.bytes ?? 0) + Number(jobs.bytes)
  return PIPELINE_ROW_BYTES + Number(jobs.count) * JOB_ROW_BYTES + textBytes
}
