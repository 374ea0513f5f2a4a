import { setImmediate } from 'node:timers/promises'
import { convertChunks, convertMetrics, newAccumulator } from '@penstock/converter'
import {
  addTotals,
  type DeliverAllOptions,
  type DeliveryReport,
  type DeliveryStops,
  deliverAll,
  noTotals,
  type OtlpEndpoint,
} from '@penstock/exporter'
import { RecordError } from '@penstock/forges'
import { defaultChunkLimits, type EncodedChunk, perSignal, RequestEncoder, type Signal } from '@penstock/otlp'
import type { InputSettings } from '../input/input-flags.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import type { PlacedRecord, RecordRun } from '../records/record-run.ts'
import { Acceptance } from './acceptance.ts'
import { deliveryTable } from './delivery-table.ts'
import { MetricWindows } from './metric-windows.ts'
import { hasCredential, type ReceiverSettings } from './open-receiver.ts'
import { refusalAdvice } from './refusal-advice.ts'
import { loadState, saveState } from './state-file.ts'

export interface ExportSettings extends InputSettings, ReceiverSettings {
  readonly signals: readonly Signal[]
  readonly stateFile: string | undefined
}

/** The number of printed retry notices. The table contains the number of all retries. */
const RETRY_NOTICES = 20

interface ExportParts {
  readonly endpoint: OtlpEndpoint
  readonly run: RecordRun
  /** Stops the export, and also makes `run` stop reading. */
  readonly stops: DeliveryStops
}

/** Converts and delivers the records of a run over the inputs. */
export class ExportRun {
  readonly #settings: ExportSettings
  readonly #environment: Environment
  readonly #endpoint: OtlpEndpoint
  readonly #run: RecordRun
  readonly #stops: DeliveryStops
  readonly #encoder: RequestEncoder
  readonly #acceptances = new WeakMap<EncodedChunk, Acceptance>()
  readonly #retries = perSignal(() => 0)
  readonly #advice = new Set<string>()
  #totals = perSignal(noTotals)
  #complete = true
  #windows: MetricWindows | undefined
  #notices = 0

  /** @throws {UsageError} if the state of earlier runs cannot be read */
  static async open(settings: ExportSettings, environment: Environment, parts: ExportParts): Promise<ExportRun> {
    const run = new ExportRun(settings, environment, parts)
    await run.#openWindows()
    return run
  }

  private constructor(settings: ExportSettings, environment: Environment, { endpoint, run, stops }: ExportParts) {
    this.#settings = settings
    this.#environment = environment
    this.#endpoint = endpoint
    this.#run = run
    this.#stops = stops
    this.#encoder = new RequestEncoder(settings.encoding)
  }

  get complete(): boolean {
    return this.#complete
  }

  /** @throws {OutputError} if running totals cannot be written */
  async perform(): Promise<void> {
    const chunks = this.#chunks()
    try {
      await this.#deliver(chunks)
      // If the export stops in the middle of a window, the window must still be finished.
      await chunks.return(undefined)
      if (!this.#stops.all.aborted) await this.#windows?.flush()
    } finally {
      this.#run.end('converted')
    }
  }

  /** Returns the table and a last line with the result. */
  result(): string[] {
    const { reason } = this.#stops
    const ending = reason === undefined ? '' : `; stopped: ${this.#interrupted ? 'interrupted' : reason}`
    const table = deliveryTable(this.#totals, this.#settings.signals, this.#retries)
    return [...table, ...this.#advice, '', `${this.#verdict}${ending}`]
  }

  get #verdict(): string {
    if (!this.complete) return 'some items were not accepted'
    const isWhole = this.#run.report.exitCode === exitCodes.ok
    const isNothing = Object.values(this.#totals).every((totals) => totals.items === 0)
    if (isNothing) return isWhole ? 'nothing to send' : 'nothing was sent'
    return isWhole ? 'everything accepted' : 'everything that was sent was accepted'
  }

  get #interrupted(): boolean {
    return this.#environment.signal.aborted
  }

  /** Creates the windows for metrics that are merged over several pipelines. */
  async #openWindows(): Promise<void> {
    const { options, signals, stateFile } = this.#settings
    const { clock } = this.#environment
    const mode = options.metricsMode
    if (mode === 'per-run' || !signals.includes('metrics')) return
    this.#windows = new MetricWindows({
      state: stateFile === undefined ? newAccumulator(mode, clock.nowNs()) : await loadState(stateFile, clock.nowNs()),
      nowNs: () => clock.nowNs(),
      encoder: this.#encoder,
      deliver: (chunks, onDelivered) => this.#deliver(chunks, onDelivered),
      save: async (state) => {
        if (stateFile !== undefined) await saveState(stateFile, state)
      },
    })
  }

  async #deliver(
    chunks: AsyncIterable<EncodedChunk> | Iterable<EncodedChunk>,
    onDelivered: (chunk: EncodedChunk) => void = () => {},
  ): Promise<DeliveryReport> {
    const report = await deliverAll(this.#endpoint, chunks, {
      concurrency: this.#settings.concurrency,
      signal: this.#environment.signal,
      stops: this.#stops,
      onSettled: (chunk, { attempts, outcome, status }) => {
        this.#retries[chunk.signal] += Math.max(attempts - 1, 0)
        if (outcome.kind === 'dead') this.#advise(chunk.signal, status)
        if (outcome.kind !== 'delivered') return
        this.#acceptances.get(chunk)?.delivered(chunk.signal)
        onDelivered(chunk)
      },
      onRetry: (notice) => this.#printRetry(notice),
    })
    const before = this.#totals
    this.#totals = perSignal((signal) => addTotals(before[signal], report.totals[signal]))
    this.#complete &&= report.complete
    return report
  }

  /** Yields the chunks until the end or a stop. A stop ends normally, so that the table is still printed. */
  async *#chunks(): AsyncGenerator<EncodedChunk> {
    try {
      for await (const record of this.#run.records()) {
        // The stop is also checked per record, because reading takes time and not every record has a chunk.
        await setImmediate()
        yield* this.#chunksOf(record)
        if (this.#windows?.full) await this.#windows.flush()
      }
    } catch (error) {
      if (!(this.#interrupted || this.#stops.all.aborted)) throw error
    }
  }

  /** Yields the chunks of a record. Only the first step can fail, so nothing of a refused record is sent. */
  *#chunksOf(placed: PlacedRecord): Generator<EncodedChunk> {
    const { options } = this.#settings
    const wanted = placed.outstanding?.signals ?? this.#settings.signals
    const signals = this.#windows === undefined ? wanted : withoutMetrics(wanted)
    try {
      const chunking = { signals, encoder: this.#encoder, limits: defaultChunkLimits }
      const tally = yield* this.#accountedFor(convertChunks(placed.record, options, chunking), placed)
      this.#windows?.add(convertMetrics(placed.record, options))
      this.#run.exported(placed, tally)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      this.#run.report.refuse(placed.place, error)
    }
  }

  /** Yields the same chunks, and reports the accepted signals of the record to its `outstanding` callback. */
  *#accountedFor<R>(chunks: Generator<EncodedChunk, R>, { outstanding }: PlacedRecord): Generator<EncodedChunk, R> {
    if (outstanding === undefined) return yield* chunks
    const acceptance = new Acceptance(outstanding)
    for (let step = chunks.next(); ; step = chunks.next()) {
      if (step.done) {
        acceptance.allMade()
        return step.value
      }
      acceptance.made(step.value.signal)
      this.#acceptances.set(step.value, acceptance)
      yield step.value
    }
  }

  #advise(signal: Signal, status: number | undefined): void {
    const advice = refusalAdvice(status, this.#endpoint.urls[signal], hasCredential(this.#settings))
    if (advice !== undefined) this.#advice.add(advice)
  }

  #printRetry({ attemptsMade, waitMs, reason }: Parameters<NonNullable<DeliverAllOptions['onRetry']>>[0]): void {
    this.#notices += 1
    if (this.#notices > RETRY_NOTICES) return
    const wait = `${(waitMs / 1_000).toFixed(1)} s`
    this.#run.progress.print(`attempt ${attemptsMade} failed, next in ${wait}: ${reason}`)
  }
}

const withoutMetrics = (signals: readonly Signal[]): readonly Signal[] =>
  signals.filter((signal) => signal !== 'metrics')
