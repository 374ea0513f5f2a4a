import {
  count,
  date,
  type Fields,
  requiredRunId,
  requiredText,
  runId,
  section,
  sections,
  text,
} from '../body/fields.ts'
import { listSections } from '../body/list-answer.ts'
import { absentJobFields, absentRunnerFields } from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import type { JobRecord, PipelineRecord, StepRecord } from '../record/pipeline-record.ts'
import type { RunId } from '../record/run-id.ts'
import { azureFailureReason, azureStatus } from './status-words.ts'

/** The name of the stage of pipelines that declare none. */
const DEFAULT_STAGE = '__default'

/** The records of a timeline: a tree of stages, phases, jobs and tasks. */
interface Tree {
  readonly byId: ReadonlyMap<string, Fields>
  readonly byParent: ReadonlyMap<string, readonly Fields[]>
}

/** Reads the jobs of a bundle; `undefined` if it has no timeline. */
export function readTimeline(
  bundle: Fields,
  runUrl: string | undefined,
): Pick<PipelineRecord, 'jobs' | 'stages'> | undefined {
  const records = readRecords(bundle)
  if (records === undefined) return undefined
  const tree = toTree(records)
  const jobs = records.filter((record) => text(record, 'type') === 'Job').map((job) => readJob(job, tree, runUrl))
  const ids = new Set(jobs.map(({ id }) => id))
  return {
    jobs: sortJobs(jobs).map((job) => withKnownAttempt(job, ids)),
    stages: records
      .filter((record) => text(record, 'type') === 'Stage')
      .toSorted(byOrder)
      .flatMap((stage) => stageName(stage) ?? []),
  }
}

function readRecords(bundle: Fields): readonly Fields[] | undefined {
  if (Array.isArray(bundle.values.timeline)) return sections(bundle, 'timeline')
  const timeline = section(bundle, 'timeline')
  return timeline && (listSections(timeline, 'records', 'value') ?? sections(timeline, 'value'))
}

function toTree(records: readonly Fields[]): Tree {
  const byId = new Map<string, Fields>()
  const byParent = new Map<string, Fields[]>()
  for (const record of records) {
    const id = text(record, 'id')
    if (id !== undefined) byId.set(id, record)
    const parentId = text(record, 'parentId')
    if (parentId === undefined) continue
    const siblings = byParent.get(parentId)
    if (siblings === undefined) byParent.set(parentId, [record])
    else siblings.push(record)
  }
  return { byId, byParent }
}

const order = (record: Fields): number => count(record, 'order') ?? Number.POSITIVE_INFINITY

function byOrder(one: Fields, other: Fields): number {
  const [a, b] = [order(one), order(other)]
  return a === b ? 0 : a - b
}

function stageName(stage: Fields): string | undefined {
  const name = text(stage, 'name')
  return name === DEFAULT_STAGE ? undefined : name
}

/** The number of records above a job among which its stage is searched. A job is two levels below its stage. */
const MAX_ANCESTORS = 8

/** Returns the stage of a job, which is the parent of its phase. */
function findStage(job: Fields, { byId }: Tree): string | undefined {
  let at: Fields | undefined = job
  for (let level = 0; level <= MAX_ANCESTORS && at !== undefined; level++) {
    if (text(at, 'type') === 'Stage') return stageName(at)
    const parentId: string | undefined = text(at, 'parentId')
    at = parentId === undefined ? undefined : byId.get(parentId)
  }
  return undefined
}

/** Returns the word for the state of a record: its result if it has one. */
const stateWord = (record: Fields): string => text(record, 'result') ?? requiredText(record, 'state')

/** Reads the group of a job of a matrix: its phase, which has several jobs. */
function readGroup(job: Fields, { byId, byParent }: Tree): JobRecord['group'] {
  const phase = byId.get(text(job, 'parentId') ?? '')
  if (phase === undefined || text(phase, 'type') !== 'Phase') return undefined
  const name = text(phase, 'name')
  const jobs = (byParent.get(text(phase, 'id') ?? '') ?? []).filter((record) => text(record, 'type') === 'Job')
  return name === undefined || jobs.length < 2 ? undefined : { name, index: undefined }
}

function readJob(job: Fields, tree: Tree, runUrl: string | undefined): JobRecord {
  const word = stateWord(job)
  const id = requiredRunId(job, 'id')
  const worker = text(job, 'workerName')
  const previous = sections(job, 'previousAttempts')?.at(-1)
  return {
    ...absentJobFields,
    id,
    bridge: false,
    name: text(job, 'name'),
    stage: findStage(job, tree),
    group: readGroup(job, tree),
    status: azureStatus(word),
    startedAtNs: date(job, 'startTime'),
    finishedAtNs: date(job, 'finishTime'),
    failureReason: azureFailureReason(word),
    allowFailure: false,
    url: runUrl?.includes('buildId=') ? `${runUrl}&view=logs&j=${id}` : undefined,
    runner: worker === undefined ? undefined : { ...absentRunnerFields, name: worker },
    attempt: count(job, 'attempt'),
    previousAttemptId: previous && runId(previous, 'recordId'),
    effective: true,
    steps: readSteps(tree.byParent.get(String(id)) ?? []),
  }
}

/** Drops the id of an earlier attempt that is in another timeline: the timeline of a build has the last attempts only. */
const withKnownAttempt = (job: JobRecord, ids: ReadonlySet<RunId>): JobRecord =>
  job.previousAttemptId !== undefined && job.previousAttemptId !== job.id && ids.has(job.previousAttemptId)
    ? job
    : { ...job, previousAttemptId: undefined }

const readSteps = (children: readonly Fields[]): readonly StepRecord[] =>
  children
    .filter((child) => text(child, 'type') === 'Task')
    .toSorted(byOrder)
    .map((task) => ({
      name: text(task, 'name'),
      status: azureStatus(stateWord(task)),
      startedAtNs: date(task, 'startTime'),
      finishedAtNs: date(task, 'finishTime'),
    }))
