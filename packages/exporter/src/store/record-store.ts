import { RowInsertion } from '@penstock/db'
import {
  type ForgeName,
  forgeNames,
  type PipelineRecord,
  parseRunId,
  type Root,
  type RunId,
  runIdText,
  withJobEvents,
  withRoot,
  withUncountedAttempt,
} from '@penstock/forges'
import { signalNames } from '@penstock/otlp'
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { ExportIdentity } from '../records/intake-request.ts'
import { type BodyContext, type ReceivedBody, readBody } from '../records/received-body.ts'
import { idsText, readIds } from './export-history-store.ts'
import { readDeliveryKey } from './export-key.ts'
import type { ExporterTables, ExportRecordsTable } from './export-tables.ts'
import { parseJobEnrichments } from './job-hook-store.ts'

/** The name of the queue that contains the exporter's deliveries. */
export const EXPORT_QUEUE = 'exports'

/** A record to be sent, in the form in which it is stored. */
export interface StoredRecord {
  readonly key: string
  readonly scope: string
  readonly body: string
  /** The forge that the body is read as; absent if it is recognised. */
  readonly forge: ForgeName | undefined
  readonly receivedAtNs: bigint
  readonly root: Root
  readonly previousJobIds: Iterable<RunId> | undefined
  /** JSON for `parseJobEnrichments`. */
  readonly jobEnrichments: string | undefined
  readonly identity: ExportIdentity | undefined
  /** Whether job hooks are still added to it. */
  readonly collects: boolean
  /** Whether only jobs are sent. */
  readonly onlyJobs: boolean
}

export async function insertRecords(
  tx: Transaction<ExporterTables>,
  records: readonly StoredRecord[],
  nowMs: number,
): Promise<void> {
  await insertRows.run(
    tx,
    records.map(
      ({ key, scope, body, forge, receivedAtNs, root, previousJobIds, jobEnrichments, identity, ...kind }) => ({
        key,
        scope,
        body,
        forge: forge ?? null,
        received_at_ns: String(receivedAtNs),
        root_id: runIdText(root.id),
        root_from: root.from,
        upstream_root_id: root.upstreamId === undefined ? null : runIdText(root.upstreamId),
        previous_job_ids: previousJobIds === undefined ? null : idsText(previousJobIds),
        job_news: jobEnrichments ?? null,
        identity: identity === undefined ? null : JSON.stringify(identity),
        collects: Number(kind.collects),
        only_jobs: Number(kind.onlyJobs),
        enqueued_at_ms: nowMs,
      }),
    ),
  )
}

const insertRows = new RowInsertion<ExporterTables, Selectable<ExportRecordsTable>>(
  [
    'key',
    'scope',
    'body',
    'forge',
    'received_at_ns',
    'root_id',
    'root_from',
    'upstream_root_id',
    'previous_job_ids',
    'job_news',
    'identity',
    'collects',
    'only_jobs',
    'enqueued_at_ms',
  ],
  (tx, rows) =>
    tx
      .insertInto('export_records')
      .values(rows)
      .onConflict((conflict) => conflict.column('key').doNothing()),
)

/** Returns the forge that a stored body is read as; `undefined` if it is recognised. */
export const storedForge = ({ forge }: Pick<ExportRecordsTable, 'forge'>): ForgeName | undefined =>
  forgeNames.find((name) => name === forge)

export const findRow = (db: Kysely<ExporterTables>, key: string): Promise<Selectable<ExportRecordsTable> | undefined> =>
  db.selectFrom('export_records').selectAll().where('key', '=', key).executeTakeFirst()

export interface FoundRecord {
  readonly scope: string
  /** The record as it was admitted, with its enrichments. */
  readonly record: PipelineRecord
  /** The length of its stored body. */
  readonly characters: number
  /** Whether job hooks are still added to it. */
  readonly collects: boolean
}

/**
 * Returns a stored record; `undefined` if there is none with this key.
 * @param read reads the body; by default on the event loop
 * @throws RecordError if the body can no longer be read
 */
export async function findRecord(
  db: Kysely<ExporterTables>,
  key: string,
  read: (text: string, context: BodyContext) => Promise<ReceivedBody> = async (text, context) =>
    readBody(text, context),
): Promise<FoundRecord | undefined> {
  const row = await findRow(db, key)
  return (
    row && {
      scope: row.scope,
      record: recordOf(row, await read(row.body, { forge: storedForge(row) })),
      characters: row.body.length,
      collects: row.collects === 1,
    }
  )
}

/** Returns the stored record for the key of one of its deliveries. */
export const findRecordOfDelivery = (db: Kysely<ExporterTables>, delivery: string): Promise<FoundRecord | undefined> =>
  findRecord(db, readDeliveryKey(delivery).record)

/**
 * Returns when the record of a delivery was enqueued. The delivery itself does not tell,
 * because a replay changes its time.
 */
export async function findEnqueuedAtMs(db: Kysely<ExporterTables>, delivery: string): Promise<number | undefined> {
  const { record } = readDeliveryKey(delivery)
  const select = db.selectFrom('export_records').select('enqueued_at_ms').where('key', '=', record)
  const row = await select.executeTakeFirst()
  return row && Number(row.enqueued_at_ms)
}

function recordOf(row: Selectable<ExportRecordsTable>, { input }: ReceivedBody): PipelineRecord {
  if (input.kind !== 'pipeline') throw new Error(`the stored body of ${row.key} is not a pipeline`)
  const identity = row.identity === null ? {} : (JSON.parse(row.identity) as ExportIdentity)
  const attempt = withUncountedAttempt(input.record, identity.attempt ?? 1)
  const received = { ...attempt, receivedAtNs: BigInt(row.received_at_ns) }
  const complete =
    row.job_news === null ? received : withJobEvents(received, parseJobEnrichments(row.job_news, received.id))
  const rooted = withIdentity(withRoot(complete, storedRoot(row)), identity)
  if (row.previous_job_ids === null) return rooted
  const jobIds = new Set(readIds(row.previous_job_ids))
  return { ...rooted, previousExport: row.only_jobs === 1 ? { jobIds, onlyJobs: true } : { jobIds } }
}

const withIdentity = (record: PipelineRecord, { instance, upstream }: ExportIdentity): PipelineRecord => ({
  ...record,
  instance: instance ?? record.instance,
  upstream: record.upstream && { ...record.upstream, ...upstream },
})

export function storedRoot({
  root_id,
  root_from,
  upstream_root_id,
}: Pick<ExportRecordsTable, 'root_id' | 'root_from' | 'upstream_root_id'>): Root {
  const root = { id: parseRunId(root_id), from: root_from as Root['from'] }
  return upstream_root_id === null ? root : { ...root, upstreamId: parseRunId(upstream_root_id) }
}

/** The position of a sweep over the records. */
export interface RecordCursor {
  readonly enqueuedAtMs: number
  readonly key: string
}

/**
 * Looks at the `limit` oldest records after `after`, and deletes those without a delivery.
 *
 * @returns the start of the next step; `undefined` at the end
 */
export async function deleteFinishedRecords(
  tx: Transaction<ExporterTables>,
  { after, beforeMs, limit }: { readonly after: RecordCursor; readonly beforeMs: number; readonly limit: number },
): Promise<RecordCursor | undefined> {
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
    // Redundant, but lets the database begin its index scan here.
    .where('enqueued_at_ms', '>=', after.enqueuedAtMs)
    .orderBy('enqueued_at_ms')
    .orderBy('key')
    .limit(limit)
    .execute()
  if (rows.length === 0) return undefined
  // The same form as `deliveryKey`.
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
