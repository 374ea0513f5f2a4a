import { DEFAULT_ATTEMPT_TIMEOUT_MS, defaultExportRetry } from '@penstock/exporter'
import { type Signal, signalNames } from '@penstock/otlp'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import { exportToken, signalChoice } from '../flags/command-variables.ts'
import { addInputFlags, encodingOption, inputSettings, integerFrom, signalsOption } from '../input/input-flags.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { formatCount, printable } from '../text/wording.ts'
import type { ExportSettings } from './export-run.ts'

/** Adds the flags of all commands that export: the receiver and the settings of the delivery. */
export function addExportFlags(command: Command): Command {
  command
    .addOption(new Option('--endpoint <url>', 'OTLP/HTTP base URL; /v1/traces and so on are appended'))
    .addOption(new Option('--token <token>', 'bearer token'))
    .addOption(signalsOption(' (default: the signals in SVC_OBSERVABILITY_EXPORT, else all)'))
    .addOption(encodingOption('protobuf'))
    .addOption(
      new Option('--concurrency <requests>', 'number of concurrent requests').argParser(integerFrom(1, 64)).default(4),
    )
    .addOption(secondsOption('--timeout <seconds>', 'timeout of one attempt', DEFAULT_ATTEMPT_TIMEOUT_MS))
    .addOption(
      secondsOption(
        '--retry-for <seconds>',
        'time after which a request is no longer retried',
        defaultExportRetry.giveUpAfterMs,
      ),
    )
  return addInputFlags(command)
}

/**
 * Returns the settings from the flags; `undefined` if the environment turns the export off.
 *
 * @throws {UsageError}
 */
export function exportSettings(flags: OptionValues, environment: Environment): ExportSettings | undefined {
  const { env } = environment
  const signals: readonly Signal[] = flags.signals ?? chosenSignals(environment)
  if (signals.length === 0) return undefined
  const settings = inputSettings(flags, environment)
  const endpoint: string | undefined = flags.endpoint ?? env.PENSTOCK_EXPORT_ENDPOINT
  if (!endpoint) throw new UsageError('no receiver was named; set --endpoint or PENSTOCK_EXPORT_ENDPOINT')
  return {
    ...settings,
    endpoint,
    token: flags.token ?? exportToken(env),
    signals,
    encoding: flags.encoding,
    concurrency: flags.concurrency,
    timeoutMs: flags.timeout,
    retryForMs: flags.retryFor,
    stateFile: flags.state,
  }
}

/** Returns the signals from the variable for CI jobs. Prints a warning for unknown signals and a note if there are none. */
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

/** Returns an option that is written in seconds and stored in milliseconds. */
function secondsOption(flag: string, about: string, fallbackMs: number): Option {
  return new Option(flag, about).argParser(parseSeconds).default(fallbackMs, String(fallbackMs / 1_000))
}

const MAX_SECONDS = 86_400

function parseSeconds(text: string): number {
  const seconds = text.trim() === '' ? Number.NaN : Number(text)
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds * 1_000
  throw new InvalidArgumentError(`It must be a number of seconds above 0 and at most ${formatCount(MAX_SECONDS)}.`)
}
