import { type JobTraceContext, jobTraceContext } from '@penstock/converter'
import {
  type Forge,
  type ForgeName,
  forgeNames,
  forges,
  JobVariablesError,
  RecordError,
  rootVariable,
} from '@penstock/forges'
import { type Command, Option, type OptionValues } from 'commander'
import { serviceNameOf } from '../flags/command-variables.ts'
import { addConversionFlags, conversionOptions } from '../flags/option-flags.ts'
import { type Environment, UsageError } from '../process/environment.ts'

/** The forges with jobs that have variables which describe the run. */
const namesWithJobs = forgeNames.filter((name) => 'readRunningJob' in forges[name])

/** Adds the flags of all commands that compute the trace context of the CI job in which they run. */
export function addJobFlags(command: Command): Command {
  command
    .addOption(new Option('--forge <forge>', 'forge that runs the job').choices(namesWithJobs).default('gitlab'))
    .option('--job-id <id>', 'id of the job, for forges that have no variable for it')
    .option('--root-pipeline-id <id>', `root of the pipelines that started this one (default: $${rootVariable})`)
  return addConversionFlags(command, ['instanceId', 'idScheme', 'multiProject', 'vendorNamespace', 'providerName'])
}

/**
 * Computes the trace context that the export will give to the CI job.
 *
 * @throws {UsageError} if the variables are not those of a job, or do not say which trace it belongs to
 */
export function readJobContext(flags: OptionValues, env: Environment['env']): JobTraceContext {
  const options = conversionOptions(flags, serviceNameOf(env))
  const rootPipelineId = flags.rootPipelineId as string | undefined
  return orUsage(() => {
    const forge: Forge = forges[flags.forge as ForgeName]
    const job = forge.readRunningJob?.(env, flags.jobId as string | undefined)
    if (job === undefined) throw new JobVariablesError('the jobs of this forge have no variables that describe the run')
    const root = rootPipelineId === undefined ? undefined : job.parseRunId('root pipeline id', rootPipelineId)
    return jobTraceContext({ job, options, rootPipelineId: root })
  })
}

function orUsage<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    // Readers of bodies refuse ids that are too long.
    const isRefused = error instanceof JobVariablesError || error instanceof RecordError
    throw isRefused ? new UsageError(error.message) : error
  }
}
