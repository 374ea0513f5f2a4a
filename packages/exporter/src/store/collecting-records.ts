import type { Db } from '@penstock/db'
import type { RunId } from '@penstock/forges'
import type { Transaction } from 'kysely'
import { idsText, readIds } from './export-history-store.ts'
import { toPipelineKey } from './export-key.ts'
import type { ExporterTables } from './export-tables.ts'
import { deleteJobEnrichments, findJobEnrichments, readFinished } from './job-hook-store.ts'

type Tx = Transaction<ExporterTables>

/**
 * Returns whether a record still collects job hooks. It does so until the end of the transaction: the row stays locked, so that the
 * record cannot be completed in between.
 */
export async function isCollecting(tx: Tx, key: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('export_records')
    .set({ collects: 1 })
    .where('key', '=', key)
    .where('collects', '=', 1)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Completes a record with the job hooks that have arrived, unless it is complete. Hooks that arrive later belong to another record.
 * Called before the first request of the record is sent.
 */
export async function completeRecord(db: Db<ExporterTables>, key: string, pipelineId: RunId): Promise<void> {
  await db.write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('export_records')
      .set({ collects: 0 })
      .where('key', '=', key)
      .where('collects', '=', 1)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return
    const pipeline = toPipelineKey(key)
    const hooks = (await findJobEnrichments(tx, [pipeline])).get(pipeline)
    if (hooks === undefined) return
    // A forge may end a run before its last jobs. The hooks about their ends come later, and make another record.
    const { finished, jobIds } = readFinished(hooks, pipelineId)
    if (jobIds.length === 0) return
    await tx.updateTable('export_records').set({ job_news: finished }).where('key', '=', key).execute()
    await deleteJobEnrichments(tx, pipeline, jobIds)
    await addSentJobs(tx, pipeline, jobIds)
  })
}

/** Remembers which jobs have been sent, so that a hook that is delivered again adds nothing. */
async function addSentJobs(tx: Tx, pipeline: string, ids: readonly RunId[]): Promise<void> {
  const row = await tx.selectFrom('export_pipelines').select('job_ids').where('key', '=', pipeline).executeTakeFirst()
  if (row === undefined) return
  const job_ids = idsText(new Set([...readIds(row.job_ids), ...ids]))
  await tx.updateTable('export_pipelines').set({ job_ids }).where('key', '=', pipeline).execute()
}
