import {
  DEFAULT_ATTEMPT_TIMEOUT_MS,
  defaultExportRetry,
  EndpointError,
  parseHeaderList,
  type RequestHeaders,
  requestHeaders,
} from '@penstock/exporter'
import { type Signal, signalNames } from '@penstock/otlp'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import { exportToken, signalChoice } from '../flags/command-variables.ts'
import { addInputFlags, encodingOption, inputSettings, integerFrom, signalsOption } from '../input/input-flags.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { formatCount, printable } from '../text/wording.ts'
import type { ExportSettings } from './export-run.ts'
import type { ReceiverSettings } from './open-receiver.ts'

/** Adds the flags of all commands that export records: those of the receiver, the signals and the records. */
export function addExportFlags(command: Command): Command {
  addReceiverFlags(command).addOption(signalsOption(' (default: the signals in SVC_OBSERVABILITY_EXPORT, else all)'))
  return addInputFlags(command)
}

/** Adds the flags of all commands that send to an OTLP endpoint: the receiver and the settings of the delivery. */
export function addReceiverFlags(command: Command): Command {
  return command
    .addOption(new Option('--endpoint <url>', 'OTLP/HTTP base URL; /v1/traces and so on are appended'))
    .addOption(new Option('--token <token>', 'bearer token'))
    .addOption(
      new Option('--header <name=value>', 'header of each request, for other credentials; repeatable').argParser(
        (text: string, before: readonly string[] = []) => [...before, text],
      ),
    )
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
  return { ...settings, ...receiverSettings(endpoint, flags, env), signals, stateFile: flags.state }
}

/** @throws {UsageError} */
export function receiverSettings(endpoint: string, flags: OptionValues, env: Environment['env']): ReceiverSettings {
  return {
    endpoint,
    ...credentials(flags, env),
    encoding: flags.encoding,
    concurrency: flags.concurrency,
    timeoutMs: flags.timeout,
    retryForMs: flags.retryFor,
  }
}

/**
 * Returns the token and the headers. Flags take precedence over variables; among variables, a token takes precedence over an
 * Authorization header, which SDKs in the same job may need.
 */
function credentials(flags: OptionValues, env: Environment['env']): Pick<ReceiverSettings, 'token' | 'headers'> {
  const given = flagHeaders(flags.header ?? [])
  if (flags.token && given.authorization !== undefined) {
    throw new UsageError('--token and --header authorization are two credentials; use one of them')
  }
  const token: string | undefined = given.authorization === undefined ? (flags.token ?? exportToken(env)) : undefined
  const { authorization, ...others } = { ...environmentHeaders(env), ...given }
  const isUsed = authorization !== undefined && !token
  return { token, headers: isUsed ? { ...others, authorization } : others }
}

/** Returns the headers for OTLP exporters, and for traces, metrics and logs alike. */
function environmentHeaders(env: Environment['env']): RequestHeaders {
  try {
    return parseHeaderList(env.OTEL_EXPORTER_OTLP_HEADERS ?? '')
  } catch (error) {
    if (error instanceof EndpointError) throw new UsageError(`OTEL_EXPORTER_OTLP_HEADERS: ${error.message}`)
    throw error
  }
}

/** Reads the values of `--header`. They are not parsed by commander, because its errors would show them. */
function flagHeaders(texts: readonly string[]): RequestHeaders {
  const entries = texts.map((text, index): [string, string] => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`--header number ${index + 1} must be a name and a value with = between them`)
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  })
  try {
    return requestHeaders(entries)
  } catch (error) {
    if (error instanceof EndpointError) throw new UsageError(`--header: ${error.message}`)
    throw error
  }
}

/** Returns the signals from the variable for CI jobs. Prints a warning for unknown signals and a note if there are none. */
export function chosenSignals({ env, stderr }: Environment): readonly Signal[] {
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
