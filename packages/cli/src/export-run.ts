import { convertChunks, convertMetrics, newAccumulator, RecordError } from '@penstock/converter'
import { type DeliverAllOptions, type DeliveryReport, deliverAll, type OtlpEndpoint } from '@penstock/exporter'
import { defaultChunkLimits, type EncodedChunk, type Encoding, RequestEncoder, type Signal } from '@penstock/otlp'
import { deliveryTable, sumOfTotals } from './delivery-table.ts'
import { type Environment, exitCodes } from './environment.ts'
import type { InputSettings } from './input-flags.ts'
import { MetricWindows } from './metric-windows.ts'
import type { PlacedRecord, RecordRun } from './record-run.ts'
import { loadState, saveState } from './state-file.ts'

export interface ExportSettings extends InputSettings {
  readonly inputs: readonly string[]
  readonly endpoint: string
  readonly token: string | undefined
  readonly signals: readonly Signal[]
  readonly encoding: Encoding
  readonly concurrency: number
  readonly timeoutMs: number
  readonly retryForMs: number
  readonly stateFile: string | undefined
}

/** Notices of retries beyond these are left to the table. */
const RETRY_NOTICES = 20

/** Converts and delivers what a run over the inputs yields. */
export class ExportRun {
  readonly #settings: ExportSettings
  readonly #environment: Environment
  readonly #endpoint: OtlpEndpoint
  readonly #run: RecordRun
  readonly #encoder: RequestEncoder
  readonly #retries: Record<Signal, number> = { traces: 0, metrics: 0, logs: 0 }
  readonly #reports: DeliveryReport[] = []
  #windows: MetricWindows | undefined
  #notices = 0

  constructor(settings: ExportSettings, environment: Environment, endpoint: OtlpEndpoint, run: RecordRun) {
    this.#settings = settings
    this.#environment = environment
    this.#endpoint = endpoint
    this.#run = run
    this.#encoder = new RequestEncoder(settings.encoding)
  }

  get complete(): boolean {
    return this.#reports.every((report) => report.complete)
  }

  /** @throws {UsageError} when the state of earlier runs cannot be read, or that of this one not written */
  async perform(): Promise<void> {
    try {
      await this.#openWindows()
      await this.#deliver(this.#chunks())
      if (this.#stopped === undefined) await this.#windows?.flush()
    } finally {
      this.#run.end('exported')
    }
  }

  /** The table, and a last line that says how it went. */
  result(): string[] {
    const totals = sumOfTotals(this.#reports.map((report) => report.totals))
    const ending = this.#stopped === undefined ? '' : `; stopped: ${this.#interrupted ? 'interrupted' : this.#stopped}`
    return [...deliveryTable(totals, this.#settings.signals, this.#retries), '', `${this.#verdict}${ending}`]
  }

  get #verdict(): string {
    if (!this.complete) return 'not everything was accepted'
    return this.#run.report.exitCode === exitCodes.ok ? 'everything accepted' : 'all that was sent was accepted'
  }

  get #interrupted(): boolean {
    return this.#environment.signal.aborted
  }

  get #stopped(): string | undefined {
    return this.#reports.find((report) => report.stopped !== undefined)?.stopped
  }

  /** For metrics that are merged over several pipelines. */
  async #openWindows(): Promise<void> {
    const { options, signals, stateFile } = this.#settings
    const { clock } = this.#environment
    const mode = options.metricsMode
    if (mode === 'per-run' || !signals.includes('metrics')) return
    this.#windows = new MetricWindows({
      state: stateFile === undefined ? newAccumulator(mode, clock.nowNs()) : await loadState(stateFile, clock.nowNs()),
      nowNs: () => clock.nowNs(),
      encoder: this.#encoder,
      deliver: (chunks) => this.#deliver(chunks),
      save: async (state) => {
        if (stateFile !== undefined) await saveState(stateFile, state)
      },
    })
  }

  async #deliver(chunks: AsyncIterable<EncodedChunk> | Iterable<EncodedChunk>): Promise<DeliveryReport> {
    const report = await deliverAll(this.#endpoint, chunks, {
      concurrency: this.#settings.concurrency,
      signal: this.#environment.signal,
      onSettled: (chunk, { attempts }) => {
        this.#retries[chunk.signal] += Math.max(attempts - 1, 0)
      },
      onRetry: (notice) => this.#tellRetry(notice),
    })
    this.#reports.push(report)
    return report
  }

  /** An interruption is an end like any other, so that the table still tells what has been done. */
  async *#chunks(): AsyncGenerator<EncodedChunk> {
    try {
      for await (const record of this.#run.records()) {
        yield* this.#chunksOf(record)
        if (!this.#windows?.full) continue
        await this.#windows.flush()
        if (this.#stopped !== undefined) return
      }
    } catch (error) {
      if (!this.#interrupted) throw error
    }
  }

  /** Only the first step can fail, so a record that is refused has sent nothing. */
  *#chunksOf(placed: PlacedRecord): Generator<EncodedChunk> {
    const { options } = this.#settings
    const signals = this.#windows === undefined ? this.#settings.signals : withoutMetrics(this.#settings.signals)
    try {
      const chunking = { signals, encoder: this.#encoder, limits: defaultChunkLimits }
      const tally = yield* convertChunks(placed.record, options, chunking)
      this.#windows?.add(convertMetrics(placed.record, options))
      this.#run.exported(placed, tally)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      this.#run.report.refuse(placed.place, error)
    }
  }

  #tellRetry({ attemptsMade, waitMs, reason }: Parameters<NonNullable<DeliverAllOptions['onRetry']>>[0]): void {
    this.#notices += 1
    if (this.#notices > RETRY_NOTICES) return
    const wait = `${(waitMs / 1_000).toFixed(1)} s`
    this.#run.progress.print(`attempt ${attemptsMade} failed, next in ${wait}: ${reason}`)
  }
}

const withoutMetrics = (signals: readonly Signal[]): readonly Signal[] =>
  signals.filter((signal) => signal !== 'metrics')
