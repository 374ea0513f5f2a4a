import { bodyFields, quoted } from '../body/fields.ts'
import { absentJobFields } from '../record/absent-fields.ts'
import type { PipelineRecord } from '../record/pipeline-record.ts'
import { JobVariablesError, type RunningJob } from '../record/running-job.ts'
import { newWarnings } from '../record/warnings.ts'
import type { ActionsReader } from './bodies.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The longest value that is read, in UTF-8; real values are far shorter. */
const maxVariableBytes = 4_096
const idPattern = /^[1-9]\d{0,18}$/

/** The part of a job's URL before its id. */
const jobSegment = { github: 'job', gitea: 'jobs' } as const

/** The time of receipt, which a record needs. The ids and attributes of a trace context do not depend on it. */
const anyTimeNs = 1n

/**
 * Returns the job that the variables of a workflow describe.
 *
 * The variables are arranged as a run and read by the reader of hooks, so that both are normalised in the same way. No variable has the
 * job's id or its name; without `jobId`, the record has no job.
 *
 * @throws {JobVariablesError} if a variable is missing or invalid
 */
export function readWorkflowJob(variables: Variables, jobId: string | undefined, reader: ActionsReader): RunningJob {
  const run = readRun(variables, reader)
  const id = jobId === undefined ? undefined : BigInt(validId('job id', jobId))
  const job = id !== undefined && {
    ...absentJobFields,
    id,
    bridge: false,
    status: 'running',
    url: run.url && `${run.url}/${jobSegment[reader.forge]}/${id}`,
    allowFailure: false,
    effective: true,
  }
  return {
    record: { ...run, jobs: job ? [job] : [], receivedAtNs: anyTimeNs },
    passedRoot: () => undefined,
    isNameUnknown: reader.forge === 'gitea' || undefined,
    variables: { projectUrl: 'GITHUB_SERVER_URL', source: 'GITHUB_EVENT_NAME', root: 'none' },
  }
}

function readRun(
  variables: Variables,
  { readRun: read, forge }: ActionsReader,
): Omit<PipelineRecord, 'jobs' | 'receivedAtNs'> {
  const value = (name: string): string | undefined => readVariable(variables, name)
  const required = (name: string): string => {
    const found = value(name)
    if (found === undefined) throw new JobVariablesError(`${name} is not set; this works inside a CI job only`)
    return found
  }
  const id = validId('GITHUB_RUN_ID', required('GITHUB_RUN_ID'))
  const attempt = validId('GITHUB_RUN_ATTEMPT', value('GITHUB_RUN_ATTEMPT') ?? '1')
  const path = required('GITHUB_REPOSITORY')
  const webUrl = `${validUrl('GITHUB_SERVER_URL', required('GITHUB_SERVER_URL'))}/${path}`
  const event = value('GITHUB_EVENT_NAME')
  // The commit of a pull request is the one of its merge, which the run does not name.
  const isPullRequest = event?.startsWith('pull_request') === true
  const run = {
    id,
    run_attempt: Number(attempt),
    status: 'in_progress',
    // Gitea's variable has the file of the workflow, the hook has its name.
    name: forge === 'github' ? value('GITHUB_WORKFLOW') : undefined,
    event,
    head_branch: isPullRequest ? pullRequestRef(forge, value) : (value('GITHUB_HEAD_REF') ?? value('GITHUB_REF_NAME')),
    head_sha: isPullRequest ? undefined : value('GITHUB_SHA'),
    html_url: `${webUrl}/actions/runs/${id}`,
    repository: {
      id: value('GITHUB_REPOSITORY_ID'),
      name: path.slice(path.lastIndexOf('/') + 1),
      full_name: path,
      html_url: webUrl,
    },
  }
  return read(bodyFields(run, newWarnings()), bodyFields({}, newWarnings()))
}

/** Returns the ref of a pull request as hooks have it: GitHub's name the branch, and Gitea's the ref of the pull request. */
function pullRequestRef(forge: ActionsReader['forge'], value: (name: string) => string | undefined) {
  if (forge === 'github') return value('GITHUB_HEAD_REF')
  const ref = value('GITHUB_REF')
  return ref?.startsWith('refs/pull/') ? ref : undefined
}

/** Returns a variable's value; `undefined` if it is missing or empty. */
function readVariable(variables: Variables, name: string): string | undefined {
  const value = variables[name]
  if (value === undefined || value === '') return undefined
  if (Buffer.byteLength(value) > maxVariableBytes)
    throw new JobVariablesError(`${name}: must have at most ${maxVariableBytes} bytes`)
  if (/[\p{Cc}\u2028\u2029]/u.test(value))
    throw new JobVariablesError(`${name}: must be one line without control characters`)
  return value
}

function validId(name: string, value: string): string {
  if (idPattern.test(value) && BigInt(value) < 2n ** 63n) return value
  throw new JobVariablesError(`${name}: must be an integer from 1 to ${2n ** 63n - 1n}, got ${quoted(value)}`)
}

/** Validates a URL. The message does not repeat the value, because a URL may contain a password. */
function validUrl(name: string, value: string): string {
  if (/^https?:\/\//i.test(value) && URL.canParse(value)) return value.replace(/\/+$/, '')
  throw new JobVariablesError(`${name}: must be an http or https URL`)
}
