import { convert, convertChunks, newAccumulator, RecordError, SCOPE_VERSION } from '@penstock/converter'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import {
  DEFAULT_ATTEMPT_TIMEOUT_MS,
  type DeliverAllOptions,
  type DeliveryReport,
  defaultExportRetry,
  deliverAll,
  OtlpEndpoint,
} from '@penstock/exporter'
import { defaultChunkLimits, type EncodedChunk, type Encoding, RequestEncoder, type Signal } from '@penstock/otlp'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../command-definition.ts'
import { deliveryTable, sumOfTotals } from '../delivery-table.ts'
import { type Environment, exitCodes, UsageError, write } from '../environment.ts'
import {
  addInputFlags,
  encodingOption,
  type InputSettings,
  inputSettings,
  integerFrom,
  signalsOption,
} from '../input-flags.ts'
import { MetricWindows } from '../metric-windows.ts'
import { type PlacedRecord, RecordRun } from '../record-run.ts'
import { exportToken } from '../settings.ts'
import { loadState, saveState } from '../state-file.ts'
import { formatCount } from '../wording.ts'

const examples = `
Every finished pipeline is exported once; the run waits for the answers and prints what became of them.

The token comes from --token, PENSTOCK_EXPORT_TOKEN or SVC_OBSERVABILITY_TOKEN; a variable does not show in the list of
processes. Without --endpoint, PENSTOCK_EXPORT_ENDPOINT counts.

Metrics are per-run by default: a point per pipeline. With --metrics-mode windowed or cumulative those of a run are merged
per stream, a window of up to 500 pipelines at a time. Cumulative totals last as long as their --state file, which is
written when the receiver has accepted them; one run at a time may use it.

Examples:
  $ penstock export hooks.ndjson --endpoint http://127.0.0.1:4318
  $ penstock export pipelines/ --endpoint https://otlp.example.com --signals traces,logs
  $ penstock export - --endpoint http://127.0.0.1:4318 --metrics-mode cumulative --state totals.json < hooks.ndjson

Exit codes: 0 all accepted, 1 a record was refused or something not accepted, 2 usage or configuration, 130 interrupted.
`

export const exportCommand: CommandDefinition = {
  name: 'export',
  define: (command: Command) => {
    command
      .summary('pipeline records to an OTLP endpoint')
      .description('Converts finished CI pipelines and delivers them over OTLP/HTTP.')
      .argument('<file...>', 'files, directories, or - for standard input')
      .addOption(new Option('--endpoint <url>', 'OTLP/HTTP base URL; /v1/traces and so on are appended'))
      .addOption(new Option('--token <token>', 'bearer token'))
      .addOption(signalsOption())
      .addOption(encodingOption('protobuf'))
      .addOption(
        new Option('--concurrency <requests>', 'requests under way at once').argParser(integerFrom(1, 64)).default(4),
      )
      .addOption(secondsOption('--timeout <seconds>', 'how long one attempt may take', DEFAULT_ATTEMPT_TIMEOUT_MS))
      .addOption(
        secondsOption('--retry-for <seconds>', 'how long a request is tried again', defaultExportRetry.giveUpAfterMs),
      )
      .addOption(new Option('--state <file>', 'running totals of --metrics-mode cumulative'))
      .addHelpText('after', examples)
    addInputFlags(command)
  },
  run: (inputs, flags, environment) => exportRecords(settingsOf(inputs, flags, environment), environment),
}

/** Typed in seconds, kept in milliseconds. */
function secondsOption(flag: string, about: string, fallbackMs: number): Option {
  return new Option(flag, about).argParser(parseSeconds).default(fallbackMs, String(fallbackMs / 1_000))
}

const MAX_SECONDS = 86_400

function parseSeconds(text: string): number {
  const seconds = text.trim() === '' ? Number.NaN : Number(text)
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1_000
  throw new InvalidArgumentError(`It must be a number of seconds above 0 and at most ${formatCount(MAX_SECONDS)}.`)
}

interface ExportSettings extends InputSettings {
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

function settingsOf(inputs: readonly string[], flags: OptionValues, environment: Environment): ExportSettings {
  const { env } = environment
  const settings = inputSettings(flags, environment)
  const endpoint: string | undefined = flags.endpoint ?? env.PENSTOCK_EXPORT_ENDPOINT
  if (!endpoint) throw new UsageError('where to? Name the receiver with --endpoint or PENSTOCK_EXPORT_ENDPOINT')
  if (flags.state !== undefined && settings.options.metricsMode !== 'cumulative') {
    throw new UsageError('--state keeps cumulative totals; it needs --metrics-mode cumulative')
  }
  return {
    ...settings,
    inputs,
    endpoint,
    token: flags.token ?? exportToken(env),
    signals: flags.signals,
    encoding: flags.encoding,
    concurrency: flags.concurrency,
    timeoutMs: flags.timeout,
    retryForMs: flags.retryFor,
    stateFile: flags.state,
  }
}

async function exportRecords(settings: ExportSettings, environment: Environment): Promise<number> {
  const { clock, random, stdout } = environment
  const client = newClient(settings)
  try {
    const endpoint = new OtlpEndpoint({
      url: settings.endpoint,
      token: settings.token,
      version: SCOPE_VERSION,
      client,
      clock,
      random,
      retry: { ...defaultExportRetry, giveUpAfterMs: settings.retryForMs },
      attemptTimeoutMs: settings.timeoutMs,
    })
    const run = await RecordRun.open({ ...settings, activity: 'exporting', printsToTerminal: false }, environment)
    const delivery = new ExportRun(settings, environment, endpoint, run)
    await delivery.open()
    await delivery.perform()
    await write(stdout, `${delivery.result().join('\n')}\n`)
    return delivery.complete ? run.report.exitCode : exitCodes.incomplete
  } finally {
    await client.close()
  }
}

function newClient({ concurrency, timeoutMs }: ExportSettings): HttpClient {
  return new HttpClient({
    ...defaultHttpClientLimits,
    connections: concurrency,
    headersTimeoutMs: Math.max(timeoutMs, defaultHttpClientLimits.headersTimeoutMs),
  })
}

/** Notices of retries beyond these are left to the table. */
const RETRY_NOTICES = 20

class ExportRun {
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

  /** Makes ready for metrics that are merged over several pipelines. */
  async open(): Promise<void> {
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

  async perform(): Promise<void> {
    try {
      await this.#deliver(this.#chunks())
      if (this.#stopped === undefined) await this.#windows?.flush()
    } finally {
      this.#run.end('exported')
    }
  }

  /** The table, and a last line that says how it went. */
  result(): string[] {
    const totals = sumOfTotals(this.#reports.map((report) => report.totals))
    const verdict = this.complete ? 'everything accepted' : 'not everything was accepted'
    const ending = this.#stopped === undefined ? verdict : `${verdict}; stopped: ${this.#stopped}`
    return [...deliveryTable(totals, this.#settings.signals, this.#retries), '', ending]
  }

  get #stopped(): string | undefined {
    return this.#reports.find((report) => report.stopped !== undefined)?.stopped
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
      if (!this.#environment.signal.aborted) throw error
    }
  }

  /** Only the first step can fail, so a record that is refused has sent nothing. */
  *#chunksOf(placed: PlacedRecord): Generator<EncodedChunk> {
    const { options } = this.#settings
    const signals = this.#windows === undefined ? this.#settings.signals : withoutMetrics(this.#settings.signals)
    try {
      const chunking = { signals, encoder: this.#encoder, limits: defaultChunkLimits }
      const tally = yield* convertChunks(placed.record, options, chunking)
      this.#windows?.add(convert(placed.record, options).metrics)
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
