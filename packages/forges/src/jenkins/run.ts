import {
  type Fields,
  id,
  isObject,
  refuse,
  requiredRunId,
  requiredSection,
  section,
  text,
  unixMilliseconds,
} from '../body/fields.ts'
import { listSections } from '../body/list-answer.ts'
import { url } from '../body/url.ts'
import { absentJobFields, absentRunFields, absentRunnerFields } from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import type { JobRecord, PipelineRecord, StepRecord } from '../record/pipeline-record.ts'
import { isBuilding, readActions } from './actions.ts'
import { displayName, readBuildPlace } from './job-name.ts'
import { jenkinsFailureReason, jenkinsStatus } from './status-words.ts'

const NS_PER_MS = 1_000_000n
/** The status of a stage or a build without a word for it. */
export const UNKNOWN = 'unknown'

/** Reads `{ build, stages }`: the build of the API, and its stage view. A build of a freestyle job has no stages. */
export function readBundle(bundle: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const build = requiredSection(bundle, 'build')
  const view = isObject(bundle.values.stages) ? section(bundle, 'stages') : undefined
  const run = readRun(build, view, receivedAtNs)
  const stages = bundle.values.stages === null ? undefined : listSections(bundle, 'stages', 'stages')
  if (stages === undefined) return { ...run, jobs: [], jobsUnknown: true }
  return { ...run, jobs: sortJobs(stages.map((stage) => readStage(stage, run.status === 'success'))) }
}

function readRun(
  build: Fields,
  view: Fields | undefined,
  receivedAtNs: bigint | undefined,
): Omit<PipelineRecord, 'jobs'> {
  const number = id(build, 'number') ?? refuse(build, 'number', 'must be the number of the build')
  const webUrl = url(build, 'url')
  const place = readBuildPlace(webUrl)
  const names = place?.names ?? namesInTitle(text(build, 'fullDisplayName'), number)
  if (names === undefined) refuse(build, 'url', 'must be the URL of the build, which names its job')
  const { project, ...facts } = readActions(build, names)
  const createdAtNs = unixMilliseconds(build, 'timestamp')
  const durationMs = millis(build, 'duration')
  const word = stateWord(build, view)
  const isOver = !isBuilding(build)
  const pausedMs = (view && millis(view, 'pauseDurationMillis')) ?? 0
  return {
    ...absentRunFields,
    ...facts,
    forge: 'jenkins',
    id: `${names.join('/')}#${number}`,
    iid: number,
    name: displayName(names),
    status: word === undefined ? UNKNOWN : jenkinsStatus(word),
    createdAtNs,
    finishedAtNs: isOver ? plusMillis(createdAtNs, durationMs) : undefined,
    durationSeconds: isOver ? busySeconds(durationMs, pausedMs) : undefined,
    url: webUrl,
    failureReason: word === undefined ? undefined : jenkinsFailureReason(word),
    project: { id: undefined, ...project, server: place?.server },
    bridgesListed: false,
    receivedAtNs,
  }
}

/** Reads the names in `team » app » main #14`, for builds without a URL. A build may have another title, which names no job. */
function namesInTitle(title: string | undefined, number: bigint): readonly string[] | undefined {
  const end = ` #${number}`
  return title?.endsWith(end) ? title.slice(0, -end.length).split(' » ') : undefined
}

/** Returns the word for the state of a build, which has no result while it runs. */
function stateWord(build: Fields, view: Fields | undefined): string | undefined {
  const viewed = view && text(view, 'status')
  if (isBuilding(build)) return viewed === 'PAUSED_PENDING_INPUT' ? viewed : 'IN_PROGRESS'
  return text(build, 'result') ?? viewed
}

/** Reads a number of milliseconds, 0 or above. */
export function millis(fields: Fields, key: string): number | undefined {
  const value = fields.values[key]
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(Math.round(value))
    ? Math.round(value)
    : undefined
}

const plusMillis = (startNs: bigint | undefined, ms: number | undefined): bigint | undefined =>
  startNs === undefined || ms === undefined ? undefined : startNs + BigInt(ms) * NS_PER_MS

/** The name of the stages of a matrix, before their values: `Matrix - OS = 'linux', NODE = '24'`. */
const MATRIX = 'Matrix'
const matrixCell = /^Matrix - \w{1,255} = '/

/** Returns the seconds without those in which the run waited for a person. */
const busySeconds = (ms: number | undefined, pausedMs: number): number | undefined =>
  ms === undefined ? undefined : Math.max(0, ms - pausedMs) / 1_000

/**
 * Reads a stage, which is a job of the record. Its id is unique within the build.
 *
 * @param isSuccess whether the build succeeded, so that a failed stage did not fail it
 */
function readStage(stage: Fields, isSuccess: boolean): JobRecord {
  const name = text(stage, 'name')
  const word = text(stage, 'status')
  const status = word === undefined ? UNKNOWN : jenkinsStatus(word)
  const startedAtNs = unixMilliseconds(stage, 'startTimeMillis')
  const durationMs = millis(stage, 'durationMillis')
  const node = text(stage, 'execNode')
  const isOpen = status === 'running' || status === 'manual'
  return {
    ...absentJobFields,
    id: requiredRunId(stage, 'id'),
    bridge: false,
    name,
    group: name !== undefined && matrixCell.test(name) ? { name: MATRIX, index: undefined } : undefined,
    status,
    startedAtNs,
    finishedAtNs: isOpen ? undefined : plusMillis(startedAtNs, durationMs),
    durationSeconds:
      status === 'skipped' ? undefined : busySeconds(durationMs, millis(stage, 'pauseDurationMillis') ?? 0),
    failureReason: word === undefined ? undefined : jenkinsFailureReason(word),
    allowFailure: status === 'failed' && isSuccess,
    runner: node === undefined ? undefined : { ...absentRunnerFields, name: node },
    effective: true,
    steps: listSections(stage, 'stageFlowNodes', 'stageFlowNodes')?.map(readStep),
  }
}

function readStep(step: Fields): StepRecord {
  const word = text(step, 'status')
  const startedAtNs = unixMilliseconds(step, 'startTimeMillis')
  return {
    name: text(step, 'name'),
    status: word === undefined ? UNKNOWN : jenkinsStatus(word),
    startedAtNs,
    finishedAtNs: plusMillis(startedAtNs, millis(step, 'durationMillis')),
  }
}
