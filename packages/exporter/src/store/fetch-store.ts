import { type DeliveryQueue, deliveriesWithin } from '@penstock/delivery'
import type { Kysely, Selectable, Transaction } from 'kysely'
import type { ExporterTables, ExportRunFetchesTable } from './export-tables.ts'

/** The name of the queue of runs that are to be read from the REST API of their forge. */
export const FETCH_QUEUE = 'run_fetches'

type Tx = Transaction<ExporterTables>

/** A run that is to be read from the REST API of its forge. */
export interface NewFetch {
  /** Unique among the runs that are still to be read. */
  readonly key: string
  /** Unique among all fetches that are kept, those that are done included. */
  readonly deliveryKey: string
  /** The scope of the source. It is the lane, too: rate limits hold up the runs of one source only. */
  readonly scope: string
  /** JSON for `readRun` of the forge. */
  readonly reference: string
  /** The hook, which is exported if the run cannot be read; undefined if the hook only names the run. */
  readonly body: string | undefined
  readonly receivedAtNs: bigint
}

export type StoredFetch = Selectable<ExportRunFetchesTable>

/** Stores a fetch and its delivery. Returns `false` if the run is being read already, or has been. */
export async function enqueueFetch(tx: Tx, queue: DeliveryQueue, fetch: NewFetch, nowMs: number): Promise<boolean> {
  const { key, deliveryKey, scope, reference, body = null, receivedAtNs } = fetch
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('export_run_fetches')
    .values({
      key,
      scope,
      reference,
      body,
      received_at_ns: String(receivedAtNs),
      answers: null,
      enqueued_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) return false
  const delivery = { key: deliveryKey, lane: scope, subject: key }
  if ((await queue.enqueue(deliveriesWithin(tx), [delivery], nowMs)) > 0) return true
  await deleteFetch(tx, key)
  return false
}

export const findFetch = (db: Kysely<ExporterTables>, key: string): Promise<StoredFetch | undefined> =>
  db.selectFrom('export_run_fetches').selectAll().where('key', '=', key).executeTakeFirst()

/** Keeps the answers of an interrupted attempt for the next one; null for none. */
export async function saveAnswers(tx: Tx, key: string, answers: string | null): Promise<void> {
  await tx.updateTable('export_run_fetches').set({ answers }).where('key', '=', key).execute()
}

/** Returns `false` if the fetch had been deleted already. */
export async function deleteFetch(tx: Tx, key: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('export_run_fetches').where('key', '=', key).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Deletes the runs of a source that are still to be read, and returns their number. */
export async function dropFetches(tx: Tx, scope: string): Promise<number> {
  await tx
    .deleteFrom('deliveries')
    .where('queue', '=', FETCH_QUEUE)
    .where('lane', '=', scope)
    .where('state', '=', 'open')
    .execute()
  const { numDeletedRows } = await tx
    .deleteFrom('export_run_fetches')
    .where('scope', '=', scope)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** A source with an API token that its forge refused at the last attempt. */
export interface TokenRefusal {
  readonly scope: string
  /** One line without secrets. */
  readonly reason: string
  /** The time of the first refusal in a row. */
  readonly sinceMs: number
}

export async function recordTokenRefusal(tx: Tx, scope: string, reason: string, nowMs: number): Promise<void> {
  await tx
    .insertInto('export_token_refusals')
    .values({ scope, reason, since_ms: nowMs })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ reason }))
    .execute()
}

export async function clearTokenRefusal(tx: Tx, scope: string): Promise<void> {
  await tx.deleteFrom('export_token_refusals').where('scope', '=', scope).execute()
}

const MAX_REFUSALS = 1_000

export async function listTokenRefusals(db: Kysely<ExporterTables>): Promise<TokenRefusal[]> {
  const rows = await db.selectFrom('export_token_refusals').selectAll().orderBy('scope').limit(MAX_REFUSALS).execute()
  return rows.map(({ scope, reason, since_ms }) => ({ scope, reason, sinceMs: Number(since_ms) }))
}
