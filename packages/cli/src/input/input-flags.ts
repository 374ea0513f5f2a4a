import { constants } from 'node:buffer'
import type { ConvertOptions } from '@penstock/converter'
import { type ForgeName, forgeNames, parseDate } from '@penstock/forges'
import { type Encoding, type Signal, signalNames } from '@penstock/otlp'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import { serviceNameOf } from '../flags/command-variables.ts'
import { addConversionFlags, conversionOptions } from '../flags/option-flags.ts'
import type { Environment } from '../process/environment.ts'
import type { JobLogFile } from './job-logs.ts'
import { defaultMaxDocumentBytes } from './record-stream.ts'

export interface InputSettings {
  readonly options: ConvertOptions
  readonly receivedAtNs: bigint | undefined
  readonly forge: ForgeName | undefined
  readonly maxDocumentBytes: number
  readonly holdsStreams: boolean
  readonly jobLogs: readonly JobLogFile[]
}

/** Adds the flags of all commands that read records. */
export function addInputFlags(command: Command): Command {
  command
    .addOption(
      new Option(
        '--received-at <time>',
        'time of receipt of the records, ISO 8601 (default: the end of each pipeline)',
      ).argParser(parseTime),
    )
    .addOption(
      new Option('--forge <forge>', 'forge of the records (default: recognised by each record)').choices(forgeNames),
    )
    .addOption(
      new Option('--max-file-bytes <bytes>', 'length limit of one JSON document, or of one line of NDJSON')
        .argParser(integerFrom(1, constants.MAX_STRING_LENGTH))
        .default(defaultMaxDocumentBytes, String(defaultMaxDocumentBytes)),
    )
  return addConversionFlags(command)
}

/** Returns the flag `--whole-stream`, for commands that write output before their input ends. */
export function wholeStreamOption(): Option {
  return new Option(
    '--whole-stream',
    'holds standard input in memory to its end, up to --max-file-bytes, so that a pipeline also finds a parent and job hooks that come after it, as in files',
  )
}

/** @throws {UsageError} */
export function inputSettings(flags: OptionValues, environment: Environment): InputSettings {
  return {
    options: conversionOptions(flags, serviceNameOf(environment.env)),
    receivedAtNs: flags.receivedAt as bigint | undefined,
    forge: flags.forge as ForgeName | undefined,
    maxDocumentBytes: flags.maxFileBytes as number,
    holdsStreams: flags.wholeStream === true,
    jobLogs: flags.jobLog ?? [],
  }
}

/** Returns the flag `--signals`. `fallback` describes the default in words if it is not constant. */
export function signalsOption(fallback = ''): Option {
  return new Option('--signals <list>', `signals, separated by commas${fallback}`).argParser(parseSignals)
}

export function encodingOption(fallback: Encoding): Option {
  return new Option('--encoding <encoding>', 'encoding of the requests').choices(['json', 'protobuf']).default(fallback)
}

/** Returns the signals in the order of `signalNames`, independently of the order in the text. */
function parseSignals(text: string): Signal[] {
  const words = text.split(',').map((word) => word.trim().toLowerCase())
  for (const word of words) {
    if (!(signalNames as string[]).includes(word))
      throw new InvalidArgumentError(`Signals are ${signalNames.join(', ')}.`)
  }
  return signalNames.filter((signal) => words.includes(signal))
}

function parseTime(text: string): bigint {
  const timeNs = parseDate(text)
  if (timeNs === undefined) throw new InvalidArgumentError('It must be a time such as 2026-02-11T09:25:11Z.')
  return timeNs
}

export function integerFrom(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`)
  }
}
