import { PRODUCT_VERSION } from '@penstock/converter'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { DEFAULT_ATTEMPT_TIMEOUT_MS, DeliveryStops, defaultExportRetry, OtlpEndpoint } from '@penstock/exporter'
import { type Signal, signalNames } from '@penstock/otlp'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../command-definition.ts'
import { type Environment, exitCodes, OutputClosed, UsageError } from '../environment.ts'
import { ExportRun, type ExportSettings } from '../export-run.ts'
import { addInputFlags, encodingOption, inputSettings, integerFrom, signalsOption } from '../input-flags.ts'
import { write } from '../output.ts'
import { RecordRun } from '../record-run.ts'
import { exportToken, signalChoice } from '../settings.ts'
import { formatCount, printable } from '../wording.ts'

const examples = `
Every finished pipeline is exported once; the run waits for the answers and prints what became of them. Exports of the same
run are remembered for the last 100,000 pipelines, with --reexport as long as they have no more than 1,000,000 jobs together;
a redelivery beyond that is exported again, under the same ids. Inputs are those of penstock convert.

Without --signals, SVC_OBSERVABILITY_EXPORT says which: some of traces, metrics, logs, with commas between. Empty it turns the
export off; without it all signals are exported.

The token comes from --token, PENSTOCK_EXPORT_TOKEN or SVC_OBSERVABILITY_TOKEN; a variable does not show in the list of
processes. Without --endpoint, PENSTOCK_EXPORT_ENDPOINT counts.

Metrics are per-run by default: a point per pipeline. With --metrics-mode windowed or cumulative those of a run are merged
per stream, a window of up to 500 pipelines at a time. Cumulative totals last as long as their --state file, which is
written when the receiver has accepted them; one run at a time may use it. Neither may two windowed runs feed the same series
at a time: their windows overlap, and of such points a delta-to-cumulative processor silently drops some (8 to 12 % where
we measured it).

Examples:
  $ penstock export hooks.ndjson --endpoint http://127.0.0.1:4318
  $ penstock export pipelines/ --endpoint https://otlp.example.com --signals traces,logs
  $ penstock export - --endpoint http://127.0.0.1:4318 --metrics-mode cumulative --state totals.json < hooks.ndjson

Exit codes: 0 all accepted, 1 a record was refused, something not accepted or the state not written, 2 usage or
configuration, 130 interrupted.
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
  run: async (inputs, flags, environment) => {
    const signals = flags.signals ?? chosenSignals(environment)
    if (signals.length === 0) return exitCodes.ok
    return exportRecords(settingsOf(inputs, { ...flags, signals }, environment), environment)
  },
}

/** What jobs are told, and people told of it where it is not as they may think. */
function chosenSignals({ env, stderr }: Environment): readonly Signal[] {
  const choice = signalChoice(env)
  if (choice === undefined) return signalNames
  const { variable, signals, unknownWords } = choice
  for (const word of unknownWords) {
    stderr.write(printable(`penstock: warning: ${variable}: no signal: ${word}; signals are ${signalNames.join(', ')}`))
    stderr.write('\n')
  }
  if (signals.length === 0) stderr.write(`penstock: nothing to export: ${variable} names no signal\n`)
  return signals
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
      version: PRODUCT_VERSION,
      client,
      clock,
      random,
      retry: { ...defaultExportRetry, giveUpAfterMs: settings.retryForMs },
      attemptTimeoutMs: settings.timeoutMs,
    })
    const stops = new DeliveryStops(settings.signals)
    const run = await RecordRun.open(
      { ...settings, activity: 'exporting', printsToTerminal: false, stop: stops.all },
      environment,
    )
    const delivery = await ExportRun.open(settings, environment, { endpoint, run, stops })
    try {
      await delivery.perform()
    } finally {
      await writeIfWanted(stdout, `${delivery.result().join('\n')}\n`)
    }
    return delivery.complete ? run.report.exitCode : exitCodes.incomplete
  } finally {
    await client.close()
  }
}

/** Whether everything was accepted does not depend on who reads the table. */
async function writeIfWanted(stdout: Environment['stdout'], text: string): Promise<void> {
  try {
    await write(stdout, text)
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error
  }
}

function newClient({ concurrency, timeoutMs }: ExportSettings): HttpClient {
  return new HttpClient({
    ...defaultHttpClientLimits,
    connections: concurrency,
    headersTimeoutMs: Math.max(timeoutMs, defaultHttpClientLimits.headersTimeoutMs),
  })
}
