import { listJobs, matrixGroup } from '../actions/jobs.ts'
import { readRepository, readUser } from '../actions/owners.ts'
import {
  count,
  dateAfterEpoch,
  type Fields,
  flag,
  id,
  requiredId,
  requiredText,
  section,
  sections,
  text,
  texts,
  warn,
} from '../body/fields.ts'
import { url } from '../body/url.ts'
import { absentJobFields, absentMergeRequestFields, absentRunFields } from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import { secondsBetween } from '../record/durations.ts'
import { MAX_STEPS } from '../record/limits.ts'
import type { JobRecord, PipelineRecord, StepRecord } from '../record/pipeline-record.ts'
import { goDuration } from './go-duration.ts'
import { forgejoStatus } from './status-words.ts'

/** Reads a run, which has the same form in hooks and in REST. */
export function readRun(run: Fields): Omit<PipelineRecord, 'jobs' | 'receivedAtNs'> {
  const word = requiredText(run, 'status').toLowerCase()
  const prettyRef = text(run, 'prettyref')
  const webUrl = url(run, 'html_url')
  const number = /^#(\d{1,18})$/.exec(prettyRef ?? '')?.[1]
  const status = forgejoStatus(word)
  return {
    ...absentRunFields,
    forge: 'forgejo',
    id: requiredId(run, 'id'),
    iid: id(run, 'index_in_repo'),
    name: text(run, 'workflow_id'),
    status: status === 'waiting_for_resource' && flag(run, 'need_approval') ? 'manual' : status,
    detailedStatus: word,
    // A run for a pull request has the number of the pull request in place of its branch.
    ref: number === undefined ? prettyRef : undefined,
    sha: text(run, 'commit_sha'),
    source: text(run, 'trigger_event') ?? text(run, 'event'),
    createdAtNs: dateAfterEpoch(run, 'created'),
    startedAtNs: dateAfterEpoch(run, 'started'),
    updatedAtNs: dateAfterEpoch(run, 'updated'),
    finishedAtNs: dateAfterEpoch(run, 'stopped'),
    durationSeconds: goDuration(run, 'duration'),
    url: webUrl,
    mergeRequest: number === undefined ? undefined : { ...absentMergeRequestFields, iid: BigInt(number) },
    user: readUser(run, ['trigger_user']),
    project: readRepository(section(run, 'repository'), webUrl),
    bridgesListed: false,
  }
}

/** Reads the jobs beside a run. */
export function readJobs(bundle: Fields): Pick<PipelineRecord, 'jobs' | 'jobsUnreadable'> {
  const { jobs, isComplete } = listJobs(bundle)
  return { jobs: sortJobs(jobs.map(readJob)), jobsUnreadable: isComplete ? undefined : true }
}

/** Reads a job. It has no times of its own: its steps include the preparation of the job and its end. */
function readJob(job: Fields): JobRecord {
  const status = forgejoStatus(requiredText(job, 'status'))
  const steps = readSteps(job)
  const labels = texts(job, 'runs_on')
  const name = text(job, 'name')
  const startedAtNs = status === 'skipped' ? undefined : earliest(steps?.map((step) => step.startedAtNs))
  const finishedAtNs = latest(steps?.map((step) => step.finishedAtNs))
  return {
    ...absentJobFields,
    id: requiredId(job, 'id'),
    bridge: false,
    name,
    group: matrixGroup(name),
    status,
    startedAtNs,
    finishedAtNs,
    durationSeconds: secondsBetween(startedAtNs, finishedAtNs),
    allowFailure: false,
    requiredTags: labels.length === 0 ? undefined : labels,
    attempt: count(job, 'attempt') || undefined,
    effective: true,
    steps,
  }
}

function readSteps(job: Fields): readonly StepRecord[] | undefined {
  const listed = sections(job, 'steps')
  if (listed === undefined || listed.length === 0) return undefined
  if (listed.length > MAX_STEPS) warn(job, 'steps', `has more than ${MAX_STEPS} steps; the others are left out`)
  return listed.slice(0, MAX_STEPS).map((step) => {
    const status = forgejoStatus(text(step, 'status') ?? 'unknown')
    return {
      name: text(step, 'name'),
      status,
      startedAtNs: dateAfterEpoch(step, 'started'),
      finishedAtNs: dateAfterEpoch(step, 'stopped'),
    }
  })
}

const known = (times: readonly (bigint | undefined)[] = []): bigint[] => times.filter((time) => time !== undefined)
const earliest = (times: readonly (bigint | undefined)[] | undefined): bigint | undefined =>
  known(times).reduce<bigint | undefined>((one, other) => (one === undefined || other < one ? other : one), undefined)
const latest = (times: readonly (bigint | undefined)[] | undefined): bigint | undefined =>
  known(times).reduce<bigint | undefined>((one, other) => (one === undefined || other > one ? other : one), undefined)
