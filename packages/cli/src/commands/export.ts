import { SCOPE_VERSION } from '@penstock/converter'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { DEFAULT_ATTEMPT_TIMEOUT_MS, defaultExportRetry, OtlpEndpoint } from '@penstock/exporter'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../command-definition.ts'
import { type Environment, exitCodes, OutputClosed, UsageError, write } from '../environment.ts'
import { ExportRun, type ExportSettings } from '../export-run.ts'
import { addInputFlags, encodingOption, inputSettings, integerFrom, signalsOption } from '../input-flags.ts'
import { RecordRun } from '../record-run.ts'
import { exportToken } from '../settings.ts'
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
    await delivery.perform()
    await writeIfWanted(stdout, `${delivery.result().join('\n')}\n`)
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
