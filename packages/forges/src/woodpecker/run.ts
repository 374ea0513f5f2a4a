import { type Fields, id, requiredId, requiredText, section, sections, text, unixSeconds } from '../body/fields.ts'
import { requestNumberInRef, tagInRef } from '../body/ref.ts'
import { userName } from '../body/user-name.ts'
import {
  absentJobFields,
  absentMergeRequestFields,
  absentRunFields,
  absentRunnerFields,
} from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import { secondsBetween } from '../record/durations.ts'
import type { JobRecord, MergeRequestRecord, PipelineRecord, StepRecord } from '../record/pipeline-record.ts'
import { toCommit, toUser } from '../record/run-origin.ts'
import { woodpeckerFailureReason, woodpeckerStatus } from './status-words.ts'

/** Reads a pipeline of the REST API with its workflows. It names neither its server nor its repository. */
export function readPipeline(pipeline: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const word = requiredText(pipeline, 'status')
  const restartedId = readRestartedId(pipeline)
  const createdAtNs = unixSeconds(pipeline, 'created')
  const startedAtNs = unixSeconds(pipeline, 'started')
  const sha = text(pipeline, 'commit')
  const source = text(pipeline, 'event')
  const username = source === 'cron' ? undefined : (userName(pipeline, 'sender') ?? userName(pipeline, 'author'))
  return {
    ...absentRunFields,
    ...readRef(pipeline),
    forge: 'woodpecker',
    id: requiredId(pipeline, 'id'),
    previousAttempt: restartedId === undefined ? undefined : { runId: restartedId },
    iid: id(pipeline, 'number'),
    status: woodpeckerStatus(word),
    sha,
    source,
    createdAtNs,
    startedAtNs,
    updatedAtNs: unixSeconds(pipeline, 'updated'),
    finishedAtNs: unixSeconds(pipeline, 'finished'),
    queuedSeconds: secondsBetween(createdAtNs, startedAtNs),
    failureReason: woodpeckerFailureReason(word),
    mergeRequest: readMergeRequest(pipeline),
    user: toUser(undefined, username),
    commit: toCommit(sha, text(pipeline, 'message')),
    project: { id: undefined, name: undefined, webUrl: undefined, path: undefined },
    unnamed: ['instanceId', 'project'],
    jobs: sortJobs((sections(pipeline, 'workflows') ?? []).map(readWorkflow)),
    bridgesListed: false,
    receivedAtNs,
  }
}

/** Returns the fields without one that is 0, which means that there is none. */
const withoutZero = (fields: Fields, key: string): Fields =>
  fields.values[key] === 0 ? { ...fields, values: { ...fields.values, [key]: undefined } } : fields

/**
 * Reads the id of the pipeline that this one restarts. `parent` is an id before version 3, and a number since. A number is below that of this
 * pipeline, and is an id only where both are equal: on a server with one repository. A deployment names the pipeline that it deploys.
 */
function readRestartedId(pipeline: Fields): bigint | undefined {
  const parent = id(withoutZero(pipeline, 'parent'), 'parent')
  const [ownId, number] = [id(pipeline, 'id'), id(pipeline, 'number')]
  if (parent === undefined || ownId === undefined || number === undefined) return undefined
  if (text(pipeline, 'event') === 'deployment') return undefined
  return parent >= number || ownId === number ? parent : undefined
}

/** Returns the ref. The `branch` of a pull request is its target; its own branch comes first in `refspec`. */
function readRef(pipeline: Fields): Pick<PipelineRecord, 'ref' | 'tag'> {
  const ref = text(pipeline, 'ref')
  const branch = text(pipeline, 'branch')
  const tag = tagInRef(ref)
  if (tag !== undefined) return { ref: tag, tag: true }
  const head = requestNumberInRef(ref) === undefined ? undefined : text(pipeline, 'refspec')?.split(':', 1)[0]
  const name = head ?? branch
  return { ref: name, tag: name === undefined ? undefined : false }
}

function readMergeRequest(pipeline: Fields): MergeRequestRecord | undefined {
  const iid = requestNumberInRef(text(pipeline, 'ref'))
  if (iid === undefined) return undefined
  return { ...absentMergeRequestFields, iid, title: text(pipeline, 'title'), targetBranch: text(pipeline, 'branch') }
}

/** Reads the group of a workflow of a matrix: its workflows have one name, and the values of the matrix as `environ`. */
function readGroup(workflow: Fields): JobRecord['group'] {
  const name = text(workflow, 'name')
  const values = section(workflow, 'environ')
  const isOfMatrix = values !== undefined && Object.keys(values.values).length > 0
  return name === undefined || !isOfMatrix ? undefined : { name, index: undefined }
}

/** Reads a workflow, which is a job of the record. Its steps are below it. */
function readWorkflow(workflow: Fields): JobRecord {
  const word = requiredText(workflow, 'state')
  const agentId = id(withoutZero(workflow, 'agent_id'), 'agent_id')
  return {
    ...absentJobFields,
    id: requiredId(workflow, 'id'),
    bridge: false,
    name: text(workflow, 'name'),
    group: readGroup(workflow),
    status: woodpeckerStatus(word),
    startedAtNs: unixSeconds(workflow, 'started'),
    finishedAtNs: unixSeconds(workflow, 'finished'),
    failureReason: woodpeckerFailureReason(word),
    allowFailure: false,
    runner: agentId === undefined ? undefined : { ...absentRunnerFields, id: agentId },
    effective: true,
    steps: sections(workflow, 'children')?.toSorted(byPosition).map(readStep),
  }
}

function byPosition(one: Fields, other: Fields): number {
  const [a, b] = [id(one, 'pid') ?? 0n, id(other, 'pid') ?? 0n]
  return a === b ? 0 : a < b ? -1 : 1
}

/** Reads a step. Versions before 3 call its times `start_time` and `end_time`. */
const readStep = (step: Fields): StepRecord => ({
  name: text(step, 'name'),
  status: woodpeckerStatus(requiredText(step, 'state')),
  startedAtNs: unixSeconds(step, 'started') ?? unixSeconds(step, 'start_time'),
  finishedAtNs: unixSeconds(step, 'finished') ?? unixSeconds(step, 'end_time'),
})
