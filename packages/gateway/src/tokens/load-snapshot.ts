import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { IngestSignal } from '../contract/signals.ts'
import type { StoredSnapshot } from '../contract/snapshot.ts'
import type { TokenLimits, TokenRecord } from '../contract/token-record.ts'
import type { GatewayDb } from '../store/tables.ts'
import type { TokenRow } from './token-store.ts'

/** Revoked tokens stay known for this time, so that the refusal can name the reason. Later they are unknown. */
const REVOKED_RETENTION_MS = 30 * 86_400_000
/** The rows per read. Between two reads, the data path gets a turn of the event loop. */
const PAGE_ROWS = 500
const MAC_BYTES = 32

const columns = [
  'position',
  'id',
  'name',
  'mac',
  'pepper_id',
  'imported',
  'signals_json',
  'tenant',
  'allowed_origins_json',
  'client_certificate_sans_json',
  'allow_query',
  'limits_json',
  'expires_at_ms',
  'disabled',
  'revoked_at_ms',
] as const
type Row = Pick<TokenRow, (typeof columns)[number]>

/**
 * Loads everything that admissions depend on from the store (T-10).
 *
 * The epoch is read before the tokens. If a change is committed in between, the snapshot may already contain it. In
 * that case, the next poll sees a newer epoch and loads again. The snapshot never lacks a change that belongs to its
 * epoch.
 */
export async function loadSnapshot(db: GatewayDb, nowMs: number): Promise<StoredSnapshot> {
  const state = await db.read
    .selectFrom('enforcement')
    .select(['epoch', 'mode', 'grace_until_ms'])
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
  const byId = new Map<string, TokenRecord>()
  const byMac = new Map<string, TokenRecord>()
  const cache = new ValueCache()
  for (let after = 0; ; ) {
    const rows = await listRows(db, after, nowMs)
    const macs = new Uint8Array(rows.length * MAC_BYTES)
    for (const [index, row] of rows.entries()) {
      const mac = macs.subarray(index * MAC_BYTES, (index + 1) * MAC_BYTES)
      mac.set(row.mac)
      const record = buildRecord(row, mac, cache)
      byId.set(record.id, record)
      if (row.imported === 1) byMac.set(row.mac.toString('hex'), record)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) break
    after = last.position
    await yieldToEventLoop()
  }
  return {
    epoch: state.epoch,
    mode: state.mode,
    graceUntilMs: state.grace_until_ms ?? undefined,
    byId,
    byMac,
  }
}

/** Returns the epoch of the store. A snapshot with this epoch is up to date; it is polled every second (T-13). */
export async function currentEpoch(db: GatewayDb): Promise<number> {
  const { epoch } = await db.read
    .selectFrom('enforcement')
    .select('epoch')
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
  return epoch
}

/** Deletes tokens that were revoked more than 30 days ago. */
export async function purgeRevoked(db: GatewayDb, nowMs: number): Promise<void> {
  await db.write((tx) =>
    tx
      .deleteFrom('ingest_tokens')
      .where('revoked_at_ms', '<=', nowMs - REVOKED_RETENTION_MS)
      .execute(),
  )
}

/** Converts a single row. */
export const toTokenRecord = (row: Omit<Row, 'position'>): TokenRecord => buildRecord(row, row.mac, new ValueCache())

function listRows(db: GatewayDb, after: number, nowMs: number): Promise<Row[]> {
  return db.read
    .selectFrom('ingest_tokens')
    .select(columns)
    .where('position', '>', after)
    .where((eb) => eb.or([eb('revoked_at_ms', 'is', null), eb('revoked_at_ms', '>', nowMs - REVOKED_RETENTION_MS)]))
    .orderBy('position')
    .limit(PAGE_ROWS)
    .execute()
}

/** Shares equal values between tokens, so that each is parsed and stored once: most tokens have the same ones. */
class ValueCache {
  readonly #strings = new Map<string, string>()
  readonly #parsed = new Map<string, unknown>()
  readonly #signals = new Map<string, ReadonlySet<IngestSignal>>()

  string(text: string): string {
    return getOrCreate(this.#strings, text, () => text)
  }

  parsed<Value>(json: string): Value {
    return getOrCreate(this.#parsed, json, () => JSON.parse(json) as unknown) as Value
  }

  signals(json: string): ReadonlySet<IngestSignal> {
    return getOrCreate(this.#signals, json, () => new Set(JSON.parse(json) as IngestSignal[]))
  }
}

function getOrCreate<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}

function buildRecord(row: Omit<Row, 'position'>, mac: Uint8Array, cache: ValueCache): TokenRecord {
  return {
    id: row.id,
    name: row.name,
    mac,
    pepperId: cache.string(row.pepper_id),
    signals: cache.signals(row.signals_json),
    tenant: row.tenant === null ? undefined : cache.string(row.tenant),
    allowedOrigins: cache.parsed<readonly string[]>(row.allowed_origins_json),
    certificateNames: cache.parsed<readonly string[]>(row.client_certificate_sans_json),
    allowQuery: row.allow_query === 1,
    limits: row.limits_json === null ? undefined : cache.parsed<TokenLimits>(row.limits_json),
    expiresAtMs: row.expires_at_ms ?? undefined,
    revokedAtMs: row.revoked_at_ms ?? undefined,
    disabled: row.disabled === 1,
  }
}
