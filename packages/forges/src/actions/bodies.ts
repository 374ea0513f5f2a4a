import { type Fields, type JsonObject, requiredId, requiredSection, section, warn } from '../body/fields.ts'
import type { ReadableBody } from '../forge/forge.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import type { JobRecord, PipelineRecord, ProjectRecord } from '../record/pipeline-record.ts'
import { toJobEvent } from '../record/to-job-event.ts'
import { withListedAttempt } from '../record/uncounted-attempts.ts'
import { listJobs, selectAttempt } from './jobs.ts'
import { actionsJobPaths, bundlePayload, giteaPaths, githubJobPaths, githubPaths, runHookPayload } from './payload.ts'
import { isBundle, isGitea, isHook } from './signatures.ts'

/** The forges with the hooks and the REST answers of GitHub Actions. */
export type ActionsForge = 'github' | 'gitea'

/** The differences between these forges. */
export interface ActionsReader {
  readonly forge: ActionsForge
  /** Reads a run. `owner` is the hook or the bundle that it is in. */
  readonly readRun: (run: Fields, owner: Fields) => RunFields
  readonly readJob: (job: Fields, owner: Fields) => JobRecord
  /** Reads a repository, of which the web URL of a run or a job in it is known. */
  readonly readRepository: (repository: Fields | undefined, runUrl: string | undefined) => ProjectRecord
}

/** A run without its jobs. */
export type RunFields = Omit<PipelineRecord, 'jobs' | 'jobsUnknown' | 'jobsUnreadable' | 'receivedAtNs'>

/** The bundle of answers of REST, for messages. */
export const bundle = '{ run, jobs }'

const isJobHook = (values: JsonObject): boolean => isHook(values, 'workflow_job')
const isRunHook = (values: JsonObject): boolean => isHook(values, 'workflow_run') && !isJobHook(values)

/** Returns whether no job is of a later attempt than the run. If one is, the number of the run's jobs is unknown. */
function haveNoLaterJobs(fields: Fields, jobs: readonly JobRecord[], { attempt }: RunFields): boolean {
  const later = jobs.find((job) => attempt !== undefined && job.attempt !== undefined && job.attempt > attempt)
  if (later !== undefined) {
    warn(fields, 'jobs', `has jobs of attempt ${later.attempt}, which are left out: the run is attempt ${attempt}`)
  }
  return later === undefined
}

/** Returns the bodies of a forge. The hook of a run has no jobs; hooks of jobs add them. */
export function actionsBodies({ forge, readRun, readJob, readRepository }: ActionsReader): readonly ReadableBody[] {
  const [paths, jobPaths] = forge === 'github' ? [githubPaths, githubJobPaths] : [giteaPaths, actionsJobPaths]
  const isMine = (values: JsonObject): boolean => isGitea(values) === (forge === 'gitea')
  return [
    {
      kind: `${forge} run`,
      matches: (values) => isRunHook(values) && isMine(values),
      fits: isRunHook,
      read: (hook, receivedAtNs) => {
        const run = readRun(requiredSection(hook, 'workflow_run'), hook)
        return { kind: 'pipeline', record: { ...run, jobs: [], jobsUnknown: true, receivedAtNs } }
      },
      payload: runHookPayload('workflow_run', paths),
    },
    {
      kind: `${forge} job`,
      matches: (values) => isJobHook(values) && isMine(values),
      fits: isJobHook,
      read: (hook, receivedAtNs) => {
        const fields = requiredSection(hook, 'workflow_job')
        const job = readJob(fields, hook)
        const pipelineId = requiredId(fields, 'run_id')
        const project = readRepository(section(hook, 'repository'), job.url)
        const attemptsUncounted = forge === 'gitea' ? true : undefined
        const run = { forge, pipelineId, runAttempt: job.attempt, attemptsUncounted, project, receivedAtNs } as const
        return { kind: 'job', event: toJobEvent(job, run) }
      },
    },
    {
      kind: `${forge} bundle`,
      matches: (values) => isBundle(values) && isMine(values),
      fits: isBundle,
      read: (fields, receivedAtNs) => {
        const run = readRun(requiredSection(fields, 'run'), fields)
        const listed = listJobs(fields)
        const read = listed.jobs.map((job) => readJob(job, job))
        const isSameAttempt = haveNoLaterJobs(fields, read, run)
        const jobs = sortJobs(selectAttempt(read, run))
        const jobsUnreadable = listed.isComplete && isSameAttempt ? undefined : true
        const record: PipelineRecord = { ...run, jobs, jobsUnreadable, receivedAtNs }
        return { kind: 'pipeline', record: run.attemptsUncounted ? withListedAttempt(record) : record }
      },
      payload: bundlePayload(paths, jobPaths),
    },
  ]
}
