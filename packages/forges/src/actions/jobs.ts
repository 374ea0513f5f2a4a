import {
  count,
  dateAfterEpoch,
  type Fields,
  id,
  isObject,
  requiredId,
  requiredSection,
  sections,
  text,
  texts,
  warn,
} from '../body/fields.ts'
import { url } from '../body/url.ts'
import { absentJobFields, absentRunnerFields } from '../record/absent-fields.ts'
import { secondsBetween } from '../record/durations.ts'
import type { JobRecord, PipelineRecord, RunnerRecord } from '../record/pipeline-record.ts'
import { isWaiting } from '../record/status.ts'
import { readOutcome } from './status-words.ts'
import { readSteps } from './steps.ts'

/** Reads a job, which has the same form in hooks and in REST. */
export function readJob(job: Fields): JobRecord {
  const { status, failureReason } = readOutcome(job)
  const createdAtNs = dateAfterEpoch(job, 'created_at')
  const finishedAtNs = dateAfterEpoch(job, 'completed_at')
  // Jobs that wait, that were skipped or that found no runner have a start in the answer although they never started.
  const startedAtNs = hasStarted(job, status) ? dateAfterEpoch(job, 'started_at') : undefined
  const labels = texts(job, 'labels')
  const name = text(job, 'name')
  return {
    ...absentJobFields,
    id: requiredId(job, 'id'),
    bridge: false,
    name,
    group: matrixGroup(name),
    status,
    createdAtNs,
    startedAtNs,
    finishedAtNs,
    durationSeconds: secondsBetween(startedAtNs, finishedAtNs),
    queuedSeconds: secondsBetween(createdAtNs, startedAtNs),
    failureReason,
    allowFailure: false,
    url: url(job, 'html_url'),
    runner: readRunner(job, labels),
    requiredTags: labels.length === 0 ? undefined : labels,
    attempt: readAttempt(job),
    effective: true,
    steps: readSteps(job, { fromNs: createdAtNs ?? startedAtNs, toNs: finishedAtNs }),
  }
}

/** Reads the number of an attempt. Versions that do not count attempts write 0. */
export function readAttempt(fields: Fields): number | undefined {
  return count(fields, 'run_attempt') || undefined
}

function hasStarted({ values }: Fields, status: string): boolean {
  if (status === 'success' || status === 'running') return true
  if (status === 'skipped' || isWaiting(status)) return false
  const hasNoRunner = values.runner_id === null || values.runner_id === 0
  const hasNoSteps = !Array.isArray(values.steps) || values.steps.length === 0
  return !(hasNoRunner && hasNoSteps)
}

/** Reads the runner. Its labels include those that the job asks for. */
function readRunner(job: Fields, labels: readonly string[]): RunnerRecord | undefined {
  const runnerId = job.values.runner_id === 0 ? undefined : id(job, 'runner_id')
  const name = text(job, 'runner_name')
  if (runnerId === undefined && name === undefined) return undefined
  return { ...absentRunnerFields, id: runnerId, name, group: text(job, 'runner_group_name'), tags: labels }
}

/** The jobs of a bundle. `isComplete` is false if there are more, so that their number is unknown. */
export interface ListedJobs {
  readonly jobs: readonly Fields[]
  readonly isComplete: boolean
}

/** Names of lists of jobs in the answers of REST. */
const listNames = ['jobs', 'workflow_jobs'] as const

/**
 * Reads `jobs` of a bundle: a list of jobs, an answer of REST that has one, or a list of such answers, which are the pages of one
 * answer.
 */
export function listJobs(bundle: Fields): ListedJobs {
  const { jobs: given } = bundle.values
  if (isObject(given)) return readPages(bundle, [requiredSection(bundle, 'jobs')])
  const listed = sections(bundle, 'jobs')
  if (listed === undefined) return { jobs: [], isComplete: false }
  const isPaged = listed.length > 0 && listed.every((page) => findListName(page) !== undefined)
  return isPaged ? readPages(bundle, listed) : { jobs: listed, isComplete: true }
}

const findListName = ({ values }: Fields) => listNames.find((name) => Array.isArray(values[name]))

function readPages(bundle: Fields, pages: readonly Fields[]): ListedJobs {
  const jobs = pages.flatMap((page) => sections(page, findListName(page) ?? 'jobs') ?? [])
  const total = Math.max(0, ...pages.map((page) => count(page, 'total_count') ?? 0))
  const isComplete = jobs.length >= total && pages.every((page) => findListName(page) !== undefined)
  if (jobs.length < total) warn(bundle, 'jobs', `has ${jobs.length} of ${total} jobs; fetch the other pages, too`)
  return { jobs, isComplete }
}

/**
 * Returns the jobs that ran in an attempt. Answers about an attempt also list the jobs of earlier attempts that did not run again: with
 * their old attempt, or with a new id and times before the attempt began.
 */
export function selectAttempt(
  jobs: readonly JobRecord[],
  { attempt, startedAtNs }: Pick<PipelineRecord, 'attempt' | 'startedAtNs'>,
): readonly JobRecord[] {
  if (attempt === undefined) return jobs
  return jobs.filter((job) => {
    if (job.attempt !== undefined && job.attempt !== attempt) return false
    return attempt === 1 || startedAtNs === undefined || (job.finishedAtNs ?? startedAtNs) >= startedAtNs
  })
}

/** The maximum length of the name of a job of a matrix, and of the part before its values. */
const MAX_MATRIX_NAME = 2_048
const MAX_GROUP_NAME = 1_024

/** Matches a value that counts the jobs of a group: `1/3`. */
const position = /^(\d{1,9})\/(\d{1,9})$/

/** Returns the group of a job of a matrix: `test` of `test (ubuntu-24.04, 22)`, and also index 1 of `test (1/3)`. */
export function matrixGroup(name: string | undefined): JobRecord['group'] {
  if (name === undefined || name.length > MAX_MATRIX_NAME || !name.endsWith(')')) return undefined
  const end = name.indexOf(' (', 1)
  const hasValues = end > 0 && end + ' ('.length < name.length - 1
  if (!hasValues || end > MAX_GROUP_NAME || /^\s/.test(name)) return undefined
  return { name: name.slice(0, end), index: matrixIndex(name.slice(end + ' ('.length, -1)) }
}

/** Returns the number of a job in its group, from 1, if exactly one value of its matrix counts the jobs. */
function matrixIndex(values: string): number | undefined {
  const positions = values.split(', ').flatMap((value) => {
    const [, index, count] = position.exec(value) ?? []
    return index !== undefined && Number(index) >= 1 && Number(index) <= Number(count) ? [Number(index)] : []
  })
  return positions.length === 1 ? positions[0] : undefined
}
