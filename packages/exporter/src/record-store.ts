import { type PipelineRecord, type Root, withJobEvents, withRoot } from '@penstock/converter'
import { RowInsertion } from '@penstock/db'
import { signalNames } from '@penstock/otlp'
import { type Kysely, sql, type Transaction } from 'kysely'
import { readDeliveryKey } from './export-key.ts'
import type { ExporterTables, ExportRecordsTable } from './export-tables.ts'
import { readJobNews } from './job-hook-store.ts'
import { idsText, readIds } from './pipeline-ledger-store.ts'
import { type ReceivedBody, readBody } from './received-body.ts'
import type { ExportIdentity } from './record-intake.ts'

/** Of the exporter's deliveries. */
export const EXPORT_QUEUE = 'exports'

/** One record to be sent, as it is kept. */
export interface KeptRecord {
  readonly key: string
  readonly scope: string
  readonly body: string
  readonly receivedAtNs: bigint
  readonly root: Root
  readonly previousJobIds: Iterable<bigint> | undefined
  /** JSON, as `readJobNews` takes it. */
  readonly jobNews: string | undefined
  readonly identity: ExportIdentity | undefined
}

export async function insertRecords(
  tx: Transaction<ExporterTables>,
  records: readonly KeptRecord[],
  nowMs: number,
): Promise<void> {
  await insertRows.run(
    tx,
    records.map(({ key, scope, body, receivedAtNs, root, previousJobIds, jobNews, identity }) => ({
      key,
      scope,
      body,
      received_at_ns: String(receivedAtNs),
      root_id: String(root.id),
      root_from: root.from,
      upstream_root_id: root.upstreamId === undefined ? null : String(root.upstreamId),
      previous_job_ids: previousJobIds === undefined ? null : idsText(previousJobIds),
      job_news: jobNews ?? null,
      identity: identity === undefined ? null : JSON.stringify(identity),
      enqueued_at_ms: nowMs,
    })),
  )
}

const insertRows = new RowInsertion<ExporterTables, ExportRecordsTable>(
  [
    'key',
    'scope',
    'body',
    'received_at_ns',
    'root_id',
    'root_from',
    'upstream_root_id',
    'previous_job_ids',
    'job_news',
    'identity',
    'enqueued_at_ms',
  ],
  (tx, rows) =>
    tx
      .insertInto('export_records')
      .values(rows)
      .onConflict((conflict) => conflict.column('key').doNothing()),
)

export interface FoundRecord {
  readonly scope: string
  /** As it was admitted. */
  readonly record: PipelineRecord
  /** Of its body. */
  readonly characters: number
}

/**
 * Returns the stored record.
 * @param read how the body is read; by default on the event loop
 * @throws RecordError if the body can no longer be read
 */
export async function findRecord(
  db: Kysely<ExporterTables>,
  key: string,
  read: (text: string) => Promise<ReceivedBody> = async (text) => readBody(text),
): Promise<FoundRecord | undefined> {
  const row = await db.selectFrom('export_records').selectAll().where('key', '=', key).executeTakeFirst()
  return row && { scope: row.scope, record: recordOf(row, await read(row.body)), characters: row.body.length }
}

/** By the key of one of its deliveries. */
export const findRecordOfDelivery = (db: Kysely<ExporterTables>, delivery: string): Promise<FoundRecord | undefined> =>
  findRecord(db, readDeliveryKey(delivery).record)

/** When the record of a delivery, by that one's key, was taken in: a replay gives deliveries a new time. */
export async function findTakenInMs(db: Kysely<ExporterTables>, delivery: string): Promise<number | undefined> {
  const { record } = readDeliveryKey(delivery)
  const select = db.selectFrom('export_records').select('enqueued_at_ms').where('key', '=', record)
  const row = await select.executeTakeFirst()
  return row && Number(row.enqueued_at_ms)
}

function recordOf(row: ExportRecordsTable, { input }: ReceivedBody): PipelineRecord {
  if (input.kind !== 'pipeline') throw new Error(`${row.key} is no pipeline`)
  const received = { ...input.record, receivedAtNs: BigInt(row.received_at_ns) }
  const complete = row.job_news === null ? received : withJobEvents(received, readJobNews(row.job_news, received.id))
  const rooted = withIdentity(withRoot(complete, keptRoot(row)), row.identity)
  if (row.previous_job_ids === null) return rooted
  return { ...rooted, previousExport: { jobIds: new Set(readIds(row.previous_job_ids)) } }
}

function withIdentity(record: PipelineRecord, text: string | null): PipelineRecord {
  if (text === null) return record
  const { instance, upstream } = JSON.parse(text) as ExportIdentity
  return { ...record, instance, upstream: record.upstream && { ...record.upstream, ...upstream } }
}

function keptRoot({ root_id, root_from, upstream_root_id }: ExportRecordsTable): Root {
  const root = { id: BigInt(root_id), from: root_from as Root['from'] }
  return upstream_root_id === null ? root : { ...root, upstreamId: BigInt(upstream_root_id) }
}

/** Where a sweep over the records stands. */
export interface RecordPlace {
  readonly enqueuedAtMs: number
  readonly key: string
}

/**
 * Deletes those of the `limit` oldest behind `after` that have no delivery any more.
 *
 * @returns where the next step begins; `undefined` at the end
 */
export async function deleteDoneRecords(
  tx: Transaction<ExporterTables>,
  { after, beforeMs, limit }: { readonly after: RecordPlace; readonly beforeMs: number; readonly limit: number },
): Promise<RecordPlace | undefined> {
  const rows = await tx
    .selectFrom('export_records')
    .select(['key', 'enqueued_at_ms'])
    .where('enqueued_at_ms', '<', beforeMs)
    .where(({ eb, and, or }) =>
      or([
        eb('enqueued_at_ms', '>', after.enqueuedAtMs),
        and([eb('enqueued_at_ms', '=', after.enqueuedAtMs), eb('key', '>', after.key)]),
      ]),
    )
    // Says nothing new; it is where a scan of the index can begin.
    .where('enqueued_at_ms', '>=', after.enqueuedAtMs)
    .orderBy('enqueued_at_ms')
    .orderBy('key')
    .limit(limit)
    .execute()
  if (rows.length === 0) return undefined
  // As `deliveryKey` puts them together.
  const keys = sql.join(signalNames.map((signal) => sql`export_records.key || ${` ${signal}`}`))
  await tx
    .deleteFrom('export_records')
    .where(
      'key',
      'in',
      rows.map(({ key }) => key),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('deliveries')
            .select('deliveries.id')
            .where('deliveries.queue', '=', EXPORT_QUEUE)
            .where(sql<boolean>`deliveries.key in (${keys})`),
        ),
      ),
    )
    .execute()
  const last = rows.at(-1)!
  return rows.length < limit ? undefined : { enqueuedAtMs: last.enqueued_at_ms, key: last.key }
}
