import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { RowInsertion } from '@penstock/db'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { IngestSignal } from '../contract/signals.ts'
import type { GatewayDb, GatewayTables, TokenUsageTable } from '../store/tables.ts'

/** The use of a token that one process has counted since its last write (T-17). */
export interface TokenUse {
  readonly tokenId: string
  readonly signal: IngestSignal
  readonly requests: number
  /** Wire bytes. */
  readonly bytes: number
  readonly rejected: number
  readonly lastUsedAtMs: number
}

export interface TokenUsage {
  readonly requests: number
  readonly bytes: number
  readonly rejected: number
}

/** The usage of a token in the last 24 whole hours, including the current one. */
export interface DayUsage {
  readonly total: TokenUsage
  /** The time at which the first hour began. */
  readonly sinceMs: number
  /** One entry per hour, the oldest first; the last one is the current hour. */
  readonly hours: readonly TokenUsage[]
}

export const noUsage: TokenUsage = { requests: 0, bytes: 0, rejected: 0 }

const HOUR_MS = 3_600_000
const HOURS = 24
const DAY_MS = HOURS * HOUR_MS
const RETENTION_MS = 2 * DAY_MS
const ROWS_PER_TRANSACTION = 2_000
/** The maximum number of ids that a query lists. For more ids, selecting all tokens costs less. */
const MAX_LISTED_IDS = 200

/** Adds the rows to the store. Each counts for the hour of its `lastUsedAtMs`. */
export async function recordUse(db: GatewayDb, rows: readonly TokenUse[]): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_PER_TRANSACTION) {
    if (start > 0) await yieldToEventLoop()
    const part = rows.slice(start, start + ROWS_PER_TRANSACTION)
    await db.write(async (tx) => {
      await addUsage.run(tx, usageRows(part))
      await raiseLastUse(tx, part)
    })
  }
}

const addUsage = new RowInsertion<GatewayTables, TokenUsageTable>(
  ['token_id', 'signal', 'hour_start_ms', 'requests', 'bytes', 'rejected'],
  (tx, rows) =>
    tx
      .insertInto('token_usage')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['token_id', 'hour_start_ms', 'signal']).doUpdateSet((eb) => ({
          requests: eb('token_usage.requests', '+', eb.ref('excluded.requests')),
          bytes: eb('token_usage.bytes', '+', eb.ref('excluded.bytes')),
          rejected: eb('token_usage.rejected', '+', eb.ref('excluded.rejected')),
        })),
      ),
)

/** Returns one row per token, signal and hour, because PostgreSQL cannot add to a row twice in one statement. */
function usageRows(uses: readonly TokenUse[]): TokenUsageTable[] {
  const byKey = new Map<string, TokenUsageTable>()
  for (const { tokenId, signal, requests, bytes, rejected, lastUsedAtMs } of uses) {
    const hourStartMs = lastUsedAtMs - (lastUsedAtMs % HOUR_MS)
    const key = `${tokenId} ${signal} ${hourStartMs}`
    const row = byKey.get(key) ?? {
      token_id: tokenId,
      signal,
      hour_start_ms: hourStartMs,
      requests: 0,
      bytes: 0,
      rejected: 0,
    }
    row.requests += requests
    row.bytes += bytes
    row.rejected += rejected
    byKey.set(key, row)
  }
  return [...byKey.values()]
}

async function raiseLastUse(tx: Transaction<GatewayTables>, uses: readonly TokenUse[]): Promise<void> {
  const lastUses = new Map<string, number>()
  for (const { tokenId, lastUsedAtMs } of uses) {
    lastUses.set(tokenId, Math.max(lastUsedAtMs, lastUses.get(tokenId) ?? 0))
  }
  const rows = [...lastUses].map(([id, atMs]) => sql`(cast(${id} as text), cast(${atMs} as bigint))`)
  await sql`update ingest_tokens set last_used_at_ms = used.column2
    from (values ${sql.join(rows)}) as used
    where ingest_tokens.id = used.column1 and coalesce(ingest_tokens.last_used_at_ms, 0) < used.column2`.execute(tx)
}

/** Returns the usage of the last 24 whole hours, including the current one. Tokens without usage are absent. */
export async function usage24h(
  db: Kysely<GatewayTables>,
  tokenIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, DayUsage>> {
  if (tokenIds.length === 0) return new Map()
  const sinceMs = nowMs - (nowMs % HOUR_MS) - (HOURS - 1) * HOUR_MS
  let usage = db
    .selectFrom('token_usage')
    .select((eb) => [
      'token_id',
      'hour_start_ms',
      eb.fn.sum<number>('requests').as('requests'),
      eb.fn.sum<number>('bytes').as('bytes'),
      eb.fn.sum<number>('rejected').as('rejected'),
    ])
    .where('hour_start_ms', '>=', sinceMs)
    .groupBy(['token_id', 'hour_start_ms'])
  if (tokenIds.length <= MAX_LISTED_IDS) usage = usage.where('token_id', 'in', tokenIds)
  const byToken = new Map<string, TokenUsage[]>()
  for (const { token_id, hour_start_ms, ...counts } of await usage.execute()) {
    const at = (hour_start_ms - sinceMs) / HOUR_MS
    // A row of an hour to come was written before the clock was set back.
    if (at >= HOURS) continue
    const hours = byToken.get(token_id) ?? Array<TokenUsage>(HOURS).fill(noUsage)
    hours[at] = counts
    byToken.set(token_id, hours)
  }
  return new Map([...byToken].map(([id, hours]) => [id, { total: totalOf(hours), sinceMs, hours }]))
}

function totalOf(hours: readonly TokenUsage[]): TokenUsage {
  return hours.reduce((total, hour) => ({
    requests: total.requests + hour.requests,
    bytes: total.bytes + hour.bytes,
    rejected: total.rejected + hour.rejected,
  }))
}

/** Deletes usage older than two days. */
export async function purgeUsage(db: GatewayDb, nowMs: number): Promise<void> {
  await db.write((tx) =>
    tx
      .deleteFrom('token_usage')
      .where('hour_start_ms', '<', nowMs - RETENTION_MS)
      .execute(),
  )
}

/** The use of a token and signal by all processes. */
interface StoredUse {
  readonly tokenId: string
  readonly signal: IngestSignal
  /** Any time within the period that was counted. */
  readonly atMs: number
  readonly requests: number
  readonly bytes: number
}

/** Returns the usage since `sinceMs` by the hour, from which a new process initializes its limits. */
export async function usageSince(db: GatewayDb, sinceMs: number): Promise<StoredUse[]> {
  const rows = await db.read
    .selectFrom('token_usage')
    .select(['token_id', 'signal', 'hour_start_ms', 'requests', 'bytes'])
    .where('hour_start_ms', '>=', sinceMs)
    .execute()
  return rows.map((row) => toStoredUse(row, row.hour_start_ms))
}

/** Returns the usage of some tokens on the day of `nowMs`. */
export async function usageOfDay(db: GatewayDb, tokenIds: readonly string[], nowMs: number): Promise<StoredUse[]> {
  const dayStartMs = nowMs - (nowMs % DAY_MS)
  const found: StoredUse[] = []
  for (let start = 0; start < tokenIds.length; start += MAX_LISTED_IDS) {
    if (start > 0) await yieldToEventLoop()
    const rows = await db.read
      .selectFrom('token_usage')
      .select((eb) => [
        'token_id',
        'signal',
        eb.fn.sum<number>('requests').as('requests'),
        eb.fn.sum<number>('bytes').as('bytes'),
      ])
      .where('token_id', 'in', tokenIds.slice(start, start + MAX_LISTED_IDS))
      .where('hour_start_ms', '>=', dayStartMs)
      .where('hour_start_ms', '<', dayStartMs + DAY_MS)
      .groupBy(['token_id', 'signal'])
      .execute()
    found.push(...rows.map((row) => toStoredUse(row, dayStartMs)))
  }
  return found
}

const toStoredUse = (
  row: Pick<TokenUsageTable, 'token_id' | 'signal' | 'requests' | 'bytes'>,
  atMs: number,
): StoredUse => ({
  tokenId: row.token_id,
  signal: row.signal as IngestSignal,
  atMs,
  requests: row.requests,
  bytes: row.bytes,
})
