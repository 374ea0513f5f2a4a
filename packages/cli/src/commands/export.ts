import { type Command, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../command-definition.ts'
import { type Environment, exitCodes, UsageError } from '../environment.ts'
import { addExportFlags, exportSettings } from '../export-flags.ts'
import type { ExportSettings } from '../export-run.ts'
import { singlePassOption } from '../input-flags.ts'
import { performExport } from '../perform-export.ts'
import { RecordRun } from '../record-run.ts'

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
      .addOption(new Option('--state <file>', 'running totals of --metrics-mode cumulative'))
      .addOption(singlePassOption())
      .addHelpText('after', examples)
    addExportFlags(command)
  },
  run: async (inputs, flags, environment) => {
    const settings = settingsOf(flags, environment)
    if (settings === undefined) return exitCodes.ok
    return performExport(settings, environment, ({ stops }) =>
      RecordRun.open(
        { ...settings, inputs, activity: 'exporting', printsToTerminal: false, stop: stops.all },
        environment,
      ),
    )
  },
}

function settingsOf(flags: OptionValues, environment: Environment): ExportSettings | undefined {
  const settings = exportSettings(flags, environment)
  if (settings?.stateFile !== undefined && settings.options.metricsMode !== 'cumulative') {
    throw new UsageError('--state keeps cumulative totals; it needs --metrics-mode cumulative')
  }
  return settings
}
