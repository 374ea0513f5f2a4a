import { type Conversion, convert } from '@penstock/converter'
import { perSignal, RequestEncoder, type Signal, type Span, signalNames } from '@penstock/otlp'
import { type Command, Option, type OptionValues } from 'commander'
import { dataPointsIn, itemsIn } from '../export-run/signal-items.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { addInputFlags, inputSettings } from '../input/input-flags.ts'
import { jobLogOption } from '../input/job-logs.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { RecordRun } from '../records/record-run.ts'
import { sampleFiles } from '../samples/sample-files.ts'
import { colorful, plain } from '../text/palette.ts'
import { type Column, textTable } from '../text/text-table.ts'
import { counted, formatBytes } from '../text/wording.ts'
import { waterfall } from '../waterfall/waterfall.ts'

/** The number of pipelines that are drawn. The totals count all pipelines. */
const pipelinesShown = 200

const defaultWidth = 80

const examples = `
Child pipelines are shown below the job that started them, if both are in the input.

Examples:
  $ penstock show --sample
  $ penstock show parent.json child.json
  $ penstock show pipelines/ --stage-spans | less
`

export const showCommand: CommandDefinition = {
  name: 'show',
  define: (command: Command) => {
    command
      .summary('draws pipeline records as a waterfall')
      .description(
        'Draws the traces of finished CI pipelines in the terminal, and counts their spans, data points and log records.',
      )
      .argument('[file...]', 'files, directories, or - for standard input')
      .addOption(new Option('--sample', 'shows pipelines that come with the source'))
      .addOption(jobLogOption())
      .addHelpText('after', examples)
    addInputFlags(command)
  },
  run: (files, flags, environment) => showRecords(inputsOf(files, flags, environment), flags, environment),
}

function inputsOf(files: readonly string[], { sample }: OptionValues, environment: Environment): readonly string[] {
  if (!sample) {
    if (files.length === 0) throw new UsageError('no file was named; name a file, or use --sample')
    return files
  }
  if (files.length > 0) throw new UsageError('--sample takes no files')
  return sampleFiles(environment)
}

async function showRecords(inputs: readonly string[], flags: OptionValues, environment: Environment): Promise<number> {
  const { stdout } = environment
  const settings = inputSettings(flags, environment)
  const run = await RecordRun.open(
    { ...settings, holdsStreams: true, inputs, activity: 'reading', printsToTerminal: false },
    environment,
  )
  const spans: (readonly Span[])[] = []
  const totals = new SignalCounts()
  try {
    for await (const placed of run.records()) {
      const conversion = run.refusing(placed.place, () => convert(placed.record, settings.options))
      if (conversion === undefined) continue
      if (totals.pipelines < pipelinesShown) spans.push(spansOf(conversion))
      totals.add(conversion)
      run.exported(placed, conversion.tally)
    }
  } finally {
    run.end('shown')
  }
  const lines = waterfall(spans.flat(), {
    width: stdout.columns ?? defaultWidth,
    palette: hasColors(environment) ? colorful : plain,
    extensions: settings.options.extensions,
  })
  await write(stdout, [...lines, ...totals.lines(), ''].join('\n'))
  return run.report.exitCode
}

const spansOf = ({ traces }: Conversion): Span[] =>
  traces.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))

/** @see https://no-color.org */
const hasColors = ({ stdout, env }: Environment): boolean => stdout.isTTY === true && !env.NO_COLOR

const countedNouns: Readonly<Record<Signal, string>> = { traces: 'span', metrics: 'data point', logs: 'log record' }

/** The totals of all pipelines. */
class SignalCounts {
  pipelines = 0
  readonly #items = perSignal(() => 0)
  readonly #bytes = perSignal(() => 0)
  readonly #encoder = new RequestEncoder('protobuf')

  add(conversion: Conversion): void {
    this.pipelines += 1
    for (const signal of signalNames) {
      this.#items[signal] += signal === 'metrics' ? dataPointsIn(conversion.metrics) : itemsIn(conversion[signal])
      this.#bytes[signal] += this.#encoder.encode(signal, conversion[signal]).length
    }
  }

  lines(): string[] {
    const rows = signalNames.map((signal) => [
      signal,
      counted(this.#items[signal], countedNouns[signal]),
      formatBytes(this.#bytes[signal]),
    ])
    const beyond =
      this.pipelines > pipelinesShown ? [`… and ${counted(this.pipelines - pipelinesShown, 'more pipeline')}`] : []
    const columns: readonly Column[] = [
      { title: counted(this.pipelines, 'pipeline'), align: 'left' },
      { title: 'items', align: 'right' },
      { title: 'protobuf', align: 'right' },
    ]
    return [...beyond, '', ...textTable(columns, rows)]
  }
}
