import {
  count,
  date,
  type Fields,
  flag,
  id,
  requiredRunId,
  requiredSection,
  seconds,
  section,
  text,
} from '../body/fields.ts'
import { hasNextPage, listSections } from '../body/list-answer.ts'
import { lastSegment, repositoryPath, repositoryUrl, url } from '../body/url.ts'
import { userName } from '../body/user-name.ts'
import { absentJobFields, absentMergeRequestFields, absentRunFields } from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import type {
  JobRecord,
  MergeRequestRecord,
  PipelineRecord,
  ProjectRecord,
  UserRecord,
} from '../record/pipeline-record.ts'
import { toCommit, toUser } from '../record/run-origin.ts'
import { readState } from './status-words.ts'

const SERVER = 'bitbucket.org'

/** Reads `{ pipeline, steps }` of the REST API. */
export function readBundle(bundle: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const run = readRun(requiredSection(bundle, 'pipeline'), receivedAtNs)
  const steps = listSections(bundle, 'steps', 'values') ?? []
  // A pipeline with failed steps that run again lists the others, too, with the number of the run that they belong to.
  const own = steps.filter(
    (step) => run.attempt === undefined || (count(step, 'run_number') ?? run.attempt) === run.attempt,
  )
  const jobs = sortJobs(own.map((step) => readStep(step, run.url)))
  return { ...run, jobs, jobsUnreadable: hasNextPage(bundle, 'steps', 'next') || undefined }
}

function readRun(pipeline: Fields, receivedAtNs: bigint | undefined): Omit<PipelineRecord, 'jobs'> {
  const runId = uuid(pipeline)
  const number = id(pipeline, 'build_number')
  const project = readProject(pipeline)
  const attempt = count(pipeline, 'run_number') || undefined
  const { status, failureReason } = readState(pipeline)
  const target = section(pipeline, 'target')
  const trigger = section(pipeline, 'trigger')
  const startedAtNs = date(pipeline, 'run_creation_date')
  return {
    ...absentRunFields,
    ...readTarget(target),
    forge: 'bitbucket',
    id: runId,
    attempt,
    previousAttempt: attempt === undefined || attempt < 2 ? undefined : { runId, attempt: attempt - 1 },
    iid: number,
    name: readName(target),
    status,
    source: trigger && text(trigger, 'name')?.toLowerCase(),
    createdAtNs: date(pipeline, 'created_on'),
    startedAtNs,
    finishedAtNs: date(pipeline, 'completed_on'),
    durationSeconds: readBusyTime(pipeline),
    url:
      project.webUrl === undefined || number === undefined
        ? undefined
        : `${project.webUrl}/pipelines/results/${number}`,
    failureReason,
    user: readUser(pipeline),
    project,
    bridgesListed: false,
    receivedAtNs,
  }
}

/** Reads a UUID without its braces. */
const uuid = (owner: Fields): string => withoutBraces(String(requiredRunId(owner, 'uuid')))
const withoutBraces = (id: string): string => id.replace(/^\{(.*)\}$/, '$1')

/** Reads the seconds that were used. A step on a runner of one's own uses none, but has a duration. */
const readBusyTime = (owner: Fields): number | undefined =>
  seconds(owner, 'build_seconds_used') || seconds(owner, 'duration_in_seconds')

/** Returns the name of a custom pipeline. Others are selected by a pattern of refs, which is no name. */
function readName(target: Fields | undefined): string | undefined {
  const selector = target && section(target, 'selector')
  return selector && text(selector, 'type') === 'custom' ? text(selector, 'pattern') : undefined
}

function readTarget(
  target: Fields | undefined,
): Pick<PipelineRecord, 'ref' | 'tag' | 'sha' | 'commit' | 'mergeRequest'> {
  const commit = target && section(target, 'commit')
  const sha = commit && text(commit, 'hash')
  const message = commit && text(commit, 'message')
  const ref = target && (text(target, 'ref_name') ?? text(target, 'source'))
  return {
    ref,
    tag: ref === undefined ? undefined : target !== undefined && text(target, 'ref_type') === 'tag',
    sha,
    commit: sha === undefined ? undefined : toCommit(sha, message),
    mergeRequest: target && readMergeRequest(target),
  }
}

function readMergeRequest(target: Fields): MergeRequestRecord | undefined {
  const request = section(target, 'pullrequest')
  const iid = request && id(request, 'id')
  if (request === undefined || iid === undefined) return undefined
  return {
    ...absentMergeRequestFields,
    iid,
    title: text(request, 'title'),
    draft: flag(request, 'draft') === true,
    targetBranch: text(target, 'destination'),
  }
}

function readProject(pipeline: Fields): ProjectRecord {
  const repository = section(pipeline, 'repository')
  const links = repository && section(repository, 'links')
  const html = links && section(links, 'html')
  const fullName = repository && text(repository, 'full_name')
  const webUrl =
    repositoryUrl(html && url(html, 'href')) ?? (fullName === undefined ? undefined : `https://${SERVER}/${fullName}`)
  const path = fullName ?? repositoryPath(webUrl)
  const repositoryId = repository && text(repository, 'uuid')
  return {
    id: repositoryId && withoutBraces(repositoryId),
    name: path === undefined ? undefined : lastSegment(path),
    webUrl,
    path,
    server: SERVER,
  }
}

function readUser(pipeline: Fields): UserRecord | undefined {
  const creator = section(pipeline, 'creator')
  if (creator === undefined) return undefined
  const id = text(creator, 'uuid')
  const username = userName(creator, 'nickname') ?? userName(creator, 'display_name')
  return toUser(id && withoutBraces(id), username)
}

function readStep(step: Fields, runUrl: string | undefined): JobRecord {
  const stepId = uuid(step)
  const { status, failureReason } = readState(step)
  const trigger = section(step, 'trigger')
  const isManual = trigger && text(trigger, 'type') === 'pipeline_step_trigger_manual'
  return {
    ...absentJobFields,
    id: stepId,
    bridge: false,
    name: text(step, 'name'),
    status,
    startedAtNs: date(step, 'started_on'),
    finishedAtNs: date(step, 'completed_on'),
    durationSeconds: readBusyTime(step),
    failureReason,
    manual: isManual || undefined,
    allowFailure: false,
    url: runUrl === undefined ? undefined : `${runUrl}/steps/%7B${stepId}%7D`,
    effective: true,
  }
}
