import {
  count,
  date,
  type Fields,
  flag,
  requiredRunId,
  requiredText,
  runId,
  section,
  text,
  texts,
} from '../body/fields.ts'
import { url } from '../body/url.ts'
import { absentJobFields, absentRunnerFields } from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import { secondsBetween } from '../record/durations.ts'
import type { DownstreamPipeline, JobRecord, RunnerRecord } from '../record/pipeline-record.ts'
import type { RunId } from '../record/run-id.ts'
import { buildkiteFailureReason, buildkiteStatus } from './status-words.ts'

/** Steps that run nothing: waits, and blocks and inputs, which wait for a person. */
const waitingTypes: readonly string[] = ['waiter', 'manual']

export const isWaiting = (job: Fields): boolean => waitingTypes.includes(text(job, 'type') ?? '')

/** Reads the jobs of a build. Waits and blocks are left out. */
export function readJobs(listed: readonly Fields[]): readonly JobRecord[] {
  const nextById = new Map<RunId, RunId>()
  const read = listed
    .filter((job) => !isWaiting(job))
    .map((job) => {
      const record = readJob(job)
      const next = runId(job, 'retried_in_job_id')
      if (next !== undefined) nextById.set(record.id, next)
      return record
    })
  return linkAttempts(sortJobs(read), nextById)
}

/** Reads a command or a trigger, which is a bridge. It waited in the queue since it was runnable. */
export function readJob(job: Fields): JobRecord {
  const word = requiredText(job, 'state')
  const status = buildkiteStatus(word)
  const retries = count(job, 'retries_count')
  const startedAtNs = date(job, 'started_at')
  const softFailed = flag(job, 'soft_failed') === true
  return {
    ...absentJobFields,
    id: requiredRunId(job, 'id'),
    bridge: text(job, 'type') === 'trigger',
    name: text(job, 'name') ?? text(job, 'label') ?? text(job, 'step_key'),
    status: softFailed && status === 'success' ? 'failed' : status,
    createdAtNs: date(job, 'created_at'),
    startedAtNs,
    finishedAtNs: date(job, 'finished_at'),
    queuedSeconds: secondsBetween(date(job, 'runnable_at'), startedAtNs),
    failureReason: buildkiteFailureReason(word, text(job, 'signal_reason')),
    allowFailure: softFailed,
    url: url(job, 'web_url'),
    runner: readRunner(job),
    group: readGroup(job),
    requiredTags: job.values.agent_query_rules === undefined ? undefined : texts(job, 'agent_query_rules'),
    downstream: readDownstream(job),
    attempt: retries === undefined || retries === 0 ? undefined : retries + 1,
    effective: flag(job, 'retried') !== true,
  }
}

/** Connects each job with the one that retried it, and numbers them. */
function linkAttempts(jobs: readonly JobRecord[], nextById: ReadonlyMap<RunId, RunId>): readonly JobRecord[] {
  if (nextById.size === 0) return jobs
  const previousById = new Map([...nextById].map(([id, next]) => [next, id]))
  const numberById = numberAttempts(nextById, previousById)
  return jobs.map((job) => {
    if (!previousById.has(job.id) && !nextById.has(job.id)) return job
    return {
      ...job,
      attempt: job.attempt ?? numberById.get(job.id),
      previousAttemptId: previousById.get(job.id),
      effective: !nextById.has(job.id),
    }
  })
}

/** Returns the number of each job among its attempts. Retries that form a circle have none. */
function numberAttempts(
  nextById: ReadonlyMap<RunId, RunId>,
  previousById: ReadonlyMap<RunId, RunId>,
): ReadonlyMap<RunId, number> {
  const numberById = new Map<RunId, number>()
  for (const first of nextById.keys()) {
    if (previousById.has(first)) continue
    let number = 1
    for (let id: RunId | undefined = first; id !== undefined && !numberById.has(id); id = nextById.get(id)) {
      numberById.set(id, number++)
    }
  }
  return numberById
}

function readRunner(job: Fields): RunnerRecord | undefined {
  const agent = section(job, 'agent')
  const id = agent && runId(agent, 'id')
  if (agent === undefined || id === undefined) return undefined
  const tags = texts(agent, 'meta_data')
  return {
    ...absentRunnerFields,
    id,
    name: text(agent, 'name'),
    group: tags.find((tag) => tag.startsWith('queue='))?.slice('queue='.length),
    url: url(agent, 'web_url'),
    tags,
  }
}

/** Reads the place of a job among parallel jobs of one name, which count from 0. */
function readGroup(job: Fields): JobRecord['group'] {
  const name = text(job, 'name')
  const index = count(job, 'parallel_group_index')
  return name === undefined || index === undefined ? undefined : { name, index: index + 1 }
}

function readDownstream(job: Fields): DownstreamPipeline | undefined {
  const build = section(job, 'triggered_build')
  const pipelineId = build && runId(build, 'id')
  return pipelineId === undefined ? undefined : { pipelineId, projectId: undefined, projectWebUrl: undefined }
}
