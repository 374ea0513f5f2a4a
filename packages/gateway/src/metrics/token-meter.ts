import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import type { TokenUse } from '../tokens/usage-store.ts'
import type { Cell, MetricRegistry } from './registry.ts'

type NamedToken = Pick<TokenRecord, 'id' | 'name'>

const HOUR_MS = 3_600_000

/** The maximum number of metered tokens. Beyond it the oldest is removed, and its counters start again if it returns. */
const MAX_TOKENS = 100_000

/** The maximum number of rows that wait for the store. Beyond it the oldest are dropped: usage is a statistic, not a bill. */
const MAX_BACKLOG_ROWS = 100_000
/** The rows dropped together, because moving the remaining rows is too slow to do for each row. */
const ROWS_DROPPED_TOGETHER = MAX_BACKLOG_ROWS / 10

const signalIndex = Object.fromEntries(ingestSignalNames.map((signal, index) => [signal, index])) as Record<
  IngestSignal,
  number
>

/**
 * The counts of one token and one signal: the cells for Prometheus, and the counts that have not been taken for the
 * store yet.
 */
interface Meter {
  readonly tokenId: string
  readonly signal: IngestSignal
  readonly requestsCell: Cell
  readonly bytesCell: Cell
  /** The hour that the counts below belong to. */
  hourStartMs: number
  requests: number
  bytes: number
  rejected: number
  lastUsedAtMs: number
}

interface MeteredToken {
  readonly name: string
  /** Meters by signal index. */
  readonly meters: (Meter | undefined)[]
}

/**
 * Counts the use per token and signal (O-3, T-17). Only tokens with a verified secret are counted, so unknown clients
 * cannot make it grow.
 */
export class TokenMeter {
  readonly #registry: MetricRegistry
  readonly #tokens = new Map<string, MeteredToken>()
  /** The meters with counts that have not been taken. */
  #pending = new Set<Meter>()
  #backlog: TokenUse[] = []

  constructor(registry: MetricRegistry) {
    this.#registry = registry
  }

  used(token: NamedToken, signal: IngestSignal, bytes: number, nowMs: number): void {
    const meter = this.#meter(token, signal, nowMs)
    meter.requestsCell.value += 1
    meter.bytesCell.value += bytes
    meter.requests += 1
    meter.bytes += bytes
  }

  rejected(token: NamedToken, signal: IngestSignal, nowMs: number): void {
    this.#meter(token, signal, nowMs).rejected += 1
  }

  /** Returns the use that was not taken before. A row belongs to the hour of its `lastUsedAtMs`; each hour has its own row. */
  take(): TokenUse[] {
    const rows = this.#backlog
    this.#backlog = []
    for (const meter of this.#pending) rows.push(takeCounts(meter))
    this.#pending = new Set()
    return rows
  }

  /** Puts rows back that could not be stored, so that they are taken again. */
  putBack(rows: readonly TokenUse[]): void {
    this.#backlog = [...rows, ...this.#backlog].slice(-MAX_BACKLOG_ROWS)
  }

  /** Removes the series of tokens that are no longer known. */
  retainOnly(known: { has(tokenId: string): boolean }): void {
    for (const [tokenId, token] of this.#tokens) if (!known.has(tokenId)) this.#removeToken(tokenId, token)
  }

  #meter(token: NamedToken, signal: IngestSignal, nowMs: number): Meter {
    let metered = this.#tokens.get(token.id)
    if (metered === undefined || metered.name !== token.name) metered = this.#addToken(token, metered)
    const meter = metered.meters[signalIndex[signal]] ?? this.#addMeter(metered, token, signal)
    const sinceHourStartMs = nowMs - meter.hourStartMs
    if (sinceHourStartMs >= HOUR_MS || sinceHourStartMs < 0) {
      this.#moveToBacklog(meter)
      meter.hourStartMs = nowMs - (nowMs % HOUR_MS)
    }
    meter.lastUsedAtMs = nowMs
    this.#pending.add(meter)
    return meter
  }

  /**
   * Moves the counts of a meter to the backlog. It runs on the data path for each token at the full hour, so it must not
   * copy the other rows.
   */
  #moveToBacklog(meter: Meter): void {
    if (!this.#pending.delete(meter)) return
    if (this.#backlog.length >= MAX_BACKLOG_ROWS) this.#backlog.splice(0, ROWS_DROPPED_TOGETHER)
    this.#backlog.push(takeCounts(meter))
  }

  /** Adds a token. The series of its old name are removed, because queries that sum by id would otherwise count it twice. */
  #addToken(token: NamedToken, renamed: MeteredToken | undefined): MeteredToken {
    if (renamed !== undefined) this.#removeToken(token.id, renamed)
    if (this.#tokens.size >= MAX_TOKENS) {
      const [oldest] = this.#tokens
      if (oldest !== undefined) this.#removeToken(...oldest)
    }
    const added: MeteredToken = { name: token.name, meters: [] }
    this.#tokens.set(token.id, added)
    return added
  }

  #addMeter({ meters }: MeteredToken, token: NamedToken, signal: IngestSignal): Meter {
    const labels = { token_id: token.id, token_name: token.name, signal }
    const meter: Meter = {
      tokenId: token.id,
      signal,
      requestsCell: this.#registry.cell('otelcol_ingestauth_token_requests', labels),
      bytesCell: this.#registry.cell('otelcol_ingestauth_token_bytes', labels),
      hourStartMs: 0,
      requests: 0,
      bytes: 0,
      rejected: 0,
      lastUsedAtMs: 0,
    }
    meters[signalIndex[signal]] = meter
    return meter
  }

  #removeToken(tokenId: string, { name, meters }: MeteredToken): void {
    this.#tokens.delete(tokenId)
    for (const meter of meters) {
      if (meter === undefined) continue
      this.#moveToBacklog(meter)
      const labels = { token_id: tokenId, token_name: name, signal: meter.signal }
      this.#registry.remove('otelcol_ingestauth_token_requests', labels)
      this.#registry.remove('otelcol_ingestauth_token_bytes', labels)
    }
  }
}

function takeCounts(meter: Meter): TokenUse {
  const { tokenId, signal, requests, bytes, rejected, lastUsedAtMs } = meter
  meter.requests = 0
  meter.bytes = 0
  meter.rejected = 0
  return { tokenId, signal, requests, bytes, rejected, lastUsedAtMs }
}
