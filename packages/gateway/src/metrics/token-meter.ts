import { type IngestSignal, ingestSignalNames } from '../ingest/signals.ts'
import type { TokenRecord } from '../tokens/token-record.ts'
import type { TokenUse } from '../tokens/usage-store.ts'
import type { Cell, MetricRegistry } from './registry.ts'

type NamedToken = Pick<TokenRecord, 'id' | 'name'>

const HOUR_MS = 3_600_000

/** Tokens whose use we remember at once. Beyond it the one seen first goes, and its counters begin anew. */
const MAX_TOKENS = 100_000

/** Rows waiting for a store that takes none. Beyond it the oldest go: usage is a statistic, not a bill. */
const MAX_BACKLOG_ROWS = 100_000
/** How many of them go at once: what moves the others up must not be paid for each row. */
const ROWS_DROPPED_TOGETHER = MAX_BACKLOG_ROWS / 10

const signalIndex = Object.fromEntries(ingestSignalNames.map((signal, index) => [signal, index])) as Record<
  IngestSignal,
  number
>

/** One token and one signal: what Prometheus reads, and what has not been taken for the store yet. */
interface Meter {
  readonly tokenId: string
  readonly signal: IngestSignal
  readonly requestsCell: Cell
  readonly bytesCell: Cell
  /** The hour that the counts below fall into. */
  hourStartMs: number
  requests: number
  bytes: number
  rejected: number
  lastUsedAtMs: number
}

interface MeteredToken {
  readonly name: string
  /** By index of the signal. */
  readonly meters: (Meter | undefined)[]
}

/**
 * Use per token and signal (O-3, T-17). Only for tokens whose secret was right, so a stranger cannot make it grow.
 */
export class TokenMeter {
  readonly #registry: MetricRegistry
  readonly #tokens = new Map<string, MeteredToken>()
  /** Those with something to take. */
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

  /** What has not been taken before. The hour of a row is that of its `lastUsedAtMs`; a new hour has a row of its own. */
  take(): TokenUse[] {
    const rows = this.#backlog
    this.#backlog = []
    for (const meter of this.#pending) rows.push(takeCounts(meter))
    this.#pending = new Set()
    return rows
  }

  /** Rows that could not be stored, to be taken again. */
  putBack(rows: readonly TokenUse[]): void {
    this.#backlog = [...rows, ...this.#backlog].slice(-MAX_BACKLOG_ROWS)
  }

  /** Series of tokens that are not known any more go. */
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

  /** What it has counted becomes a row. On the data path, for each token at the full hour: must not copy the others. */
  #moveToBacklog(meter: Meter): void {
    if (!this.#pending.delete(meter)) return
    if (this.#backlog.length >= MAX_BACKLOG_ROWS) this.#backlog.splice(0, ROWS_DROPPED_TOGETHER)
    this.#backlog.push(takeCounts(meter))
  }

  /** A renamed token has new series, and the old ones go, or both would be summed as its use. */
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
