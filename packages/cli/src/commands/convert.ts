import { type Conversion, convert } from '@penstock/converter'
import type { RunId } from '@penstock/forges'
import { type Encoding, RequestEncoder, type Signal, signalNames } from '@penstock/otlp'
import { type Command, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { allowPerRunOnly } from '../flags/option-flags.ts'
import {
  addInputFlags,
  encodingOption,
  type InputSettings,
  inputSettings,
  signalsOption,
  wholeStreamOption,
} from '../input/input-flags.ts'
import { jobLogOption } from '../input/job-logs.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { RecordRun } from '../records/record-run.ts'
import { directoryOutput, type RequestOutput, streamOutput } from '../records/request-output.ts'

const STDOUT = '-'

const examples = `
The input consists of pipeline hooks, job hooks, REST bundles ({ project, pipeline, jobs, bridges }) or REST jobs
(consecutive jobs are grouped by pipeline), as one JSON value, a JSON array, or NDJSON. - is standard input; a directory
means its *.json, *.ndjson and *.jsonl, each also with .gz. Gzip and UTF-16 are decoded. Captured requests
({ headers, body }) are read as their body. Hooks about other events are skipped and counted.

Files are read twice, so that a pipeline finds its parent, its bridge and its job hooks in any order. Standard input is
read once, so they must precede the pipeline, unless --whole-stream is set.

On standard output, JSON is one OTLP request per line, for each pipeline in the order traces, metrics, logs. Protobuf on
standard output can contain one signal only. A directory gets files <pipeline id>.<signal>.json or .pb; a second pipeline
with the same id in one run becomes <pipeline id>.2.<signal>.json. Use penstock export for windowed and cumulative metrics.

Examples:
  $ penstock convert hook.json
  $ penstock convert hook.json --signals traces | jq '.resourceSpans[].scopeSpans[].spans[].name'
  $ penstock convert hooks.ndjson.gz --encoding protobuf --output requests
  $ curl -sH "PRIVATE-TOKEN: $TOKEN" $API/projects/17/pipelines/31/jobs?include_retried=true | penstock convert -
  $ penstock convert hook.json --job-log 380=build.log
  $ penstock convert pipelines/ --profile native --service-name svc-ci --bounds 1,5,10

Exit codes: 0 all converted (or skipped: not finished yet, another event), 1 a record was refused or the output could not be
written, 2 usage.
`

export const convertCommand: CommandDefinition = {
  name: 'convert',
  define: (command: Command) => {
    command
      .summary('converts pipeline records to OTLP requests')
      .description('Converts finished CI pipelines to OTLP traces, metrics and logs.')
      .argument('<file...>', 'files, directories, or - for standard input')
      .addOption(signalsOption().default(signalNames, signalNames.join(',')))
      .addOption(encodingOption('json'))
      .addOption(new Option('-o, --output <target>', '- for standard output, or a directory').default(STDOUT))
      .addOption(wholeStreamOption())
      .addOption(jobLogOption())
      .addHelpText('after', examples)
    addInputFlags(command)
    allowPerRunOnly(command)
  },
  run: (inputs, flags, environment) => convertRecords(settingsOf(inputs, flags, environment), environment),
}

interface ConvertSettings extends InputSettings {
  readonly inputs: readonly string[]
  readonly signals: readonly Signal[]
  readonly encoding: Encoding
  readonly output: string
}

function settingsOf(inputs: readonly string[], flags: OptionValues, environment: Environment): ConvertSettings {
  const { signals, encoding, output } = flags as Pick<ConvertSettings, 'signals' | 'encoding' | 'output'>
  if (encoding === 'protobuf' && output === STDOUT && signals.length > 1) {
    throw new UsageError(
      'protobuf on standard output can contain one signal only: select it with --signals, or set --output to a directory',
    )
  }
  return { ...inputSettings(flags, environment), inputs, signals, encoding, output }
}

async function convertRecords(settings: ConvertSettings, environment: Environment): Promise<number> {
  const { encoding, output, options, signals } = settings
  const { stdout } = environment
  const printsToTerminal = output === STDOUT && stdout.isTTY === true
  const run = await RecordRun.open({ ...settings, activity: 'converting', printsToTerminal }, environment)
  const requests = output === STDOUT ? streamOutput(stdout, encoding) : await directoryOutput(output, encoding)
  const encoder = new RequestEncoder(encoding)
  try {
    for await (const placed of run.records()) {
      const conversion = run.refusing(placed.place, () => convert(placed.record, options))
      if (conversion === undefined) continue
      await put(requests, placed.record.id, conversion, { signals, encoder })
      run.exported(placed, conversion.tally)
    }
  } finally {
    run.end('converted')
  }
  return run.report.exitCode
}

function put(
  output: RequestOutput,
  pipelineId: RunId,
  conversion: Conversion,
  { signals, encoder }: { readonly signals: readonly Signal[]; readonly encoder: RequestEncoder },
): Promise<void> {
  const bodies = signals.map((signal) => [signal, encoder.encode(signal, conversion[signal])] as const)
  return output.put(pipelineId, new Map(bodies))
}
