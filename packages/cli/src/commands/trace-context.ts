import {
  type JobTraceContext,
  maxAttributeLength,
  type ResourceAttributeList,
  resourceAttributeList,
} from '@penstock/converter'
import { rootVariable } from '@penstock/forges'
import { type Command, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { addJobFlags, readJobContext } from '../in-job/job-context.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { printable } from '../text/wording.ts'

const examples = `
Run it inside a CI job. The spans of tools that read TRACEPARENT and OTEL_RESOURCE_ATTRIBUTES are then below the span of
the job, if the pipeline is exported with the same options. OTEL_RESOURCE_ATTRIBUTES keeps its existing attributes,
except for the keys that this command computes, which get the values of the export. If its value is malformed, it is
replaced, with a line on standard error.

A job of a child pipeline needs the root of its trace: pass ${rootVariable} on in the trigger job.

GitHub, Gitea, Forgejo and Jenkins have no variable with the id of the job: pass it on if you know it. Without it, the spans
are below the span of the run. Woodpecker and Drone have no variable with the id of the run.

Examples:
  $ eval "$(penstock trace-context)"
  $ penstock trace-context --format dotenv > trace.env && docker run --env-file trace.env image
  $ penstock trace-context --forge github --job-id \${{ job.check_run_id }} >> "$GITHUB_ENV" --format dotenv
  $ penstock trace-context --format json | jq -r .trace_id

Exit codes: 0 printed, 2 the variables are not those of a job, or do not say which trace it belongs to.
`

export const traceContextCommand: CommandDefinition = {
  name: 'trace-context',
  define: (command: Command) => {
    command
      .summary('prints TRACEPARENT for the tools of a CI job')
      .description('Prints the trace context that the CI job will have in the export.')
      .addOption(
        new Option('--format <format>', 'env: lines for a shell to evaluate; dotenv: lines without quotes')
          .choices(['env', 'dotenv', 'json'])
          .default('env'),
      )
      .addHelpText('after', examples)
    addJobFlags(command)
  },
  run: async (_, flags, environment) => printTraceContext(flags, environment),
}

async function printTraceContext(flags: OptionValues, environment: Environment): Promise<number> {
  const { env, stdout, stderr } = environment
  const context = readJobContext(flags, env)
  const attributes = resourceAttributeList(env.OTEL_RESOURCE_ATTRIBUTES, context.resourceAttributes)
  const variables = variablesOf(context, attributes.list, env)
  for (const remark of remarksOn(context, attributes)) stderr.write(`penstock: ${printable(remark)}\n`)
  await write(stdout, formatters[flags.format as Format](variables, context))
  return exitCodes.ok
}

type PrintedVariables = Readonly<Record<string, string>>

/**
 * Returns the variables to print. If the context has no `TRACESTATE` but the environment does, an empty one is printed,
 * because the existing one belongs to another `TRACEPARENT`.
 */
function variablesOf(context: JobTraceContext, attributeList: string, env: Environment['env']): PrintedVariables {
  return {
    TRACEPARENT: context.traceparent,
    ...((context.tracestate !== '' || env.TRACESTATE) && { TRACESTATE: context.tracestate }),
    OTEL_RESOURCE_ATTRIBUTES: attributeList,
  }
}

function remarksOn(
  { rootResolved, spanId, pipelineSpanId, tooLong }: JobTraceContext,
  { malformed }: ResourceAttributeList,
): string[] {
  const keys = tooLong.join(', ')
  return [
    ...(spanId === pipelineSpanId
      ? ['the id of the job is unknown, so spans of tools are below the span of the run; --job-id names it']
      : []),
    ...(rootResolved
      ? []
      : [
          `the upstream pipeline is assumed to be the root of the trace; if it is not, pass ${rootVariable} on in its trigger job`,
        ]),
    ...(tooLong.length === 0 ? [] : [`left out, more than ${maxAttributeLength} characters: ${keys}`]),
    ...(malformed === undefined ? [] : [`OTEL_RESOURCE_ATTRIBUTES is malformed and is replaced: ${malformed}`]),
  ]
}

type Format = 'env' | 'dotenv' | 'json'

const formatters: Readonly<Record<Format, (variables: PrintedVariables, context: JobTraceContext) => string>> = {
  env: (variables) => lines(variables, (name, value) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`),
  dotenv: (variables) => lines(variables, (name, value) => `${name}=${value}`),
  json: (variables, context) => `${JSON.stringify(jsonOf(variables, context), null, 2)}\n`,
}

function lines(variables: PrintedVariables, line: (name: string, value: string) => string): string {
  return Object.entries(variables)
    .map(([name, value]) => `${line(name, value)}\n`)
    .join('')
}

function jsonOf(variables: PrintedVariables, context: JobTraceContext) {
  return {
    trace_id: context.traceId,
    span_id: context.spanId,
    pipeline_span_id: context.pipelineSpanId,
    root_resolved: context.rootResolved,
    resource_attributes: Object.fromEntries(context.resourceAttributes),
    environment: variables,
  }
}
