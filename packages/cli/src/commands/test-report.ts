import { RequestEncoder, type Signal } from '@penstock/otlp'
import { type Command, Option, type OptionValues } from 'commander'
import { addReceiverFlags, chosenSignals, receiverSettings } from '../export-run/export-flags.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { serviceNameOf } from '../flags/command-variables.ts'
import { conversionOptions } from '../flags/option-flags.ts'
import { addJobFlags } from '../in-job/job-context.ts'
import { spanParent } from '../in-job/span-parent.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { deliverReports } from '../test-reports/deliver-reports.ts'
import { readReports } from '../test-reports/read-reports.ts'
import { testSpanRequest } from '../test-reports/test-report-requests.ts'

const examples = `
Reads JUnit XML. Each suite and each case is a span below the span of the CI job, which is that of TRACEPARENT, else computed as
penstock trace-context does. Metrics count cases by suite. A report has at most 32 MiB, a command at most 200,000 cases.

The endpoint is read from --endpoint, PENSTOCK_EXPORT_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT; tokens and headers are those of
penstock export. If SVC_OBSERVABILITY_EXPORT is set, it selects among traces and metrics. Ids depend on the path of a report, so a
report that is sent twice has the same spans.

Examples:
  $ penstock test-report report.xml --endpoint http://127.0.0.1:4318
  $ penstock test-report target/surefire-reports/TEST-*.xml --forge github
  $ penstock test-report report.xml --output - | jq .

Exit codes: 0 all accepted, 1 a report was refused or something not accepted, 2 usage or configuration, 130 interrupted. Failed
tests do not change the exit code.
`

/** The signals that a report has, in the order of all outputs. */
const reportSignals: readonly Signal[] = ['traces', 'metrics']

export const testReportCommand: CommandDefinition = {
  name: 'test-report',
  define: (command: Command) => {
    command
      .summary('exports the test reports of a CI job')
      .description('Converts test reports to spans below the CI job, and delivers them over OTLP/HTTP.')
      .argument('<file...>', 'reports in JUnit XML, or - for standard input')
      .addOption(new Option('--output <output>', '- prints the spans as one OTLP/JSON request').choices(['-']))
      .addHelpText('after', examples)
    addJobFlags(addReceiverFlags(command))
  },
  run: async (files, flags, environment) => {
    const prints = flags.output === '-'
    if (prints && flags.endpoint !== undefined) throw new UsageError('--output and --endpoint exclude each other')
    const signals = prints ? [] : reportSignals.filter((signal) => chosenSignals(environment).includes(signal))
    if (!prints && signals.length === 0) return exitCodes.ok
    const receiver = prints ? undefined : receiverSettings(endpointFrom(flags, environment), flags, environment.env)
    const { vendorNamespace } = conversionOptions(flags, serviceNameOf(environment.env))
    const parent = spanParent(flags, environment)
    const { reports, complete } = await readReports(files, environment)
    const source = { reports, parent, vendorNamespace }
    if (receiver === undefined) {
      const body = testSpanRequest(source, new RequestEncoder('json'))
      await write(environment.stdout, Buffer.concat([body, Buffer.from('\n')]))
      return complete ? exitCodes.ok : exitCodes.incomplete
    }
    const exitCode = await deliverReports(source, signals, receiver, environment)
    return complete ? exitCode : exitCodes.incomplete
  },
}

function endpointFrom(flags: OptionValues, { env }: Environment): string {
  const endpoint: string | undefined =
    flags.endpoint ?? (env.PENSTOCK_EXPORT_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT)
  if (endpoint) return endpoint
  throw new UsageError(
    'no receiver was named; set --endpoint, PENSTOCK_EXPORT_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT, or print with --output -',
  )
}
