import { type AdmissionRequest, type Reason, reasons, WRONG_PATH } from '../contract/admission.ts'
import type { Outcome } from '../contract/export-ending.ts'
import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'
import type { EnforcementMode } from '../contract/snapshot.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import type { Transport } from '../contract/transport.ts'
import { instruments } from './instruments.ts'
import { type Cell, type HistogramCell, MetricRegistry, type MetricsReport, observe } from './registry.ts'
import { TokenMeter } from './token-meter.ts'

type CheckedTransport = AdmissionRequest['transport']
export type Decision = 'allow' | 'reject' | 'would_reject'

const transports: readonly Transport[] = ['http', 'grpc']
const outcomes: readonly Outcome[] = ['success', 'refused', 'failure']
const modes: readonly EnforcementMode[] = ['off', 'report', 'warn', 'enforce']

const VERIFY_SAMPLE = 64
const verifyBounds = instruments.otelcol_ingestauth_verify_duration.bounds ?? []

/**
 * The positions of labels in one flat array, so that a decision is counted without building a key of strings:
 *
 *     [signal][transport][mode][decision][reason, or 0 if there is none]
 */
const REASONS = reasons.length + 1
const reasonAt = positions(reasons, 1)
const decisionAt = positions<Decision>(['allow', 'reject', 'would_reject'], REASONS)
const modeAt = positions(modes, REASONS * 3)
const transportAt = positions<CheckedTransport>(['http', 'grpc', 'forward-auth'], REASONS * 3 * modes.length)
const signalAt = positions(ingestSignalNames, REASONS * 3 * modes.length * 3)
const DECISIONS = REASONS * 3 * modes.length * 3 * ingestSignalNames.length

/**
 * The counters of the data path (O-1 to O-10). Counting costs one addition. The registry bounds the series that unknown
 * clients could create; tokens appear in labels only after their secret was verified.
 */
export class GateMetrics {
  readonly registry: MetricRegistry
  readonly tokens: TokenMeter
  readonly #decisions = new Array<Cell | undefined>(DECISIONS).fill(undefined)
  readonly #answered: Readonly<Record<Transport, Readonly<Record<Outcome, Cell>>>>
  readonly #clientAborted: Readonly<Record<Transport, Cell>>
  readonly #verifyDuration: HistogramCell
  readonly #beforeReport: (() => void)[] = []
  #verifications = 0

  constructor(registry: MetricRegistry = new MetricRegistry()) {
    this.registry = registry
    this.tokens = new TokenMeter(registry)
    this.#verifyDuration = registry.histogram('otelcol_ingestauth_verify_duration')
    // The series start at 0, because a rate needs a value before the first event.
    this.#answered = each(transports, (transport) =>
      each(outcomes, (outcome) => registry.cell('otelcol_receiver_requests', { receiver: 'otlp', transport, outcome })),
    )
    this.#clientAborted = each(transports, (transport) =>
      registry.cell('otelcol_receiver_client_aborted', { transport }),
    )
  }

  /** Counts a decision. `reason` is `undefined` if the request would be admitted in every mode. */
  decided(
    signal: IngestSignal,
    transport: CheckedTransport,
    mode: EnforcementMode,
    decision: Decision,
    reason: Reason | undefined,
  ): void {
    const at =
      signalAt[signal] +
      transportAt[transport] +
      modeAt[mode] +
      decisionAt[decision] +
      (reason === undefined ? 0 : reasonAt[reason] + 1)
    let cell = this.#decisions[at]
    if (cell === undefined) {
      const labels = { signal, transport, mode, decision, ...(reason !== undefined && { reason }) }
      cell = this.registry.cell('otelcol_ingestauth_decisions', labels)
      this.#decisions[at] = cell
    }
    cell.value += 1
  }

  /** Counts a request with a valid token on a wrong path. `signal` is `undefined` if the path does not tell the signal. */
  wrongPath(signal: IngestSignal | undefined, transport: CheckedTransport, mode: EnforcementMode): void {
    const labels = { signal: signal ?? 'unknown', transport, mode, decision: 'reject', reason: WRONG_PATH }
    this.registry.cell('otelcol_ingestauth_decisions', labels).value += 1
  }

  answered(outcome: Outcome, transport: Transport): void {
    this.#answered[transport][outcome].value += 1
  }

  /** Counts a client that disconnected before its answer. */
  clientAborted(transport: Transport): void {
    this.#clientAborted[transport].value += 1
  }

  /** Counts the use of an admitted request, when the bytes of its body are known. */
  tokenUsed(token: TokenRecord, signal: IngestSignal, bytes: number, nowMs: number): void {
    this.tokens.used(token, signal, bytes, nowMs)
  }

  /** Counts a request that was refused although its secret was right. */
  tokenRejected(token: TokenRecord, signal: IngestSignal, nowMs: number): void {
    this.tokens.rejected(token, signal, nowMs)
  }

  /** Counts a request that exceeded a limit. It is also counted as rejected. `limit` is the `limit` of `OverLimit`. */
  throttled(token: TokenRecord, signal: IngestSignal, limit: string, nowMs: number): void {
    this.registry.cell('otelcol_ingestauth_token_throttled', { token_id: token.id, signal, limit }).value += 1
    this.tokens.rejected(token, signal, nowMs)
  }

  /** Returns whether to time the next verification. One in 64 is timed, because reading the clock twice costs as much as a check. */
  shouldTimeVerification(): boolean {
    this.#verifications += 1
    return this.#verifications % VERIFY_SAMPLE === 1
  }

  verifyDuration(seconds: number): void {
    observe(this.#verifyDuration, verifyBounds, seconds)
  }

  inFlightBytes(transport: Transport): Cell {
    return this.registry.cell('otelcol_receiver_in_flight_bytes', { transport })
  }

  /** Registers a callback that runs before each report, to update gauges. */
  onReport(callback: () => void): void {
    this.#beforeReport.push(callback)
  }

  report(): MetricsReport {
    for (const callback of this.#beforeReport) callback()
    return this.registry.report()
  }
}

/** Maps each word to its index times `stride`. */
function positions<Word extends string>(words: readonly Word[], stride: number): Record<Word, number> {
  return Object.fromEntries(words.map((word, index) => [word, index * stride])) as Record<Word, number>
}

function each<Word extends string, Value>(words: readonly Word[], make: (word: Word) => Value): Record<Word, Value> {
  return Object.fromEntries(words.map((word) => [word, make(word)])) as Record<Word, Value>
}
