import {
  count,
  type Fields,
  flag,
  id,
  requiredId,
  requiredSection,
  requiredText,
  section,
  sections,
  text,
  unixSeconds,
} from '../body/fields.ts'
import { requestNumberInRef, tagInRef } from '../body/ref.ts'
import { repositoryUrl, url } from '../body/url.ts'
import { userName } from '../body/user-name.ts'
import {
  absentJobFields,
  absentMergeRequestFields,
  absentRunFields,
  absentRunnerFields,
} from '../record/absent-fields.ts'
import { sortJobs } from '../record/arrange-jobs.ts'
import { secondsBetween } from '../record/durations.ts'
import type {
  JobRecord,
  MergeRequestRecord,
  PipelineRecord,
  ProjectRecord,
  StepRecord,
} from '../record/pipeline-record.ts'
import { toCommit, toUser } from '../record/run-origin.ts'
import { droneFailureReason, droneStatus } from './status-words.ts'

const unknownProject: ProjectRecord = { id: undefined, name: undefined, webUrl: undefined, path: undefined }

/** Reads the global webhook. It names the repository, and in newer versions the server. */
export function readHook(hook: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const repository = section(hook, 'repo')
  const system = section(hook, 'system')
  const server = system && text(system, 'host')
  const run = readBuild(requiredSection(hook, 'build'), receivedAtNs)
  const path = repository && text(repository, 'slug')
  const link = system && url(system, 'link')
  return {
    ...run,
    project: {
      id: repository && id(repository, 'id'),
      name: repository && text(repository, 'name'),
      webUrl: repository && repositoryUrl(url(repository, 'link') ?? text(repository, 'git_http_url')),
      path,
      server,
    },
    url: link === undefined || path === undefined || run.iid === undefined ? undefined : `${link}/${path}/${run.iid}`,
    unnamed: [
      ...(server === undefined ? (['instanceId'] as const) : []),
      ...(path === undefined ? (['project'] as const) : []),
    ],
  }
}

/** Reads a build of the REST API with its stages. It names neither its server nor its repository. */
export function readBuild(build: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const word = requiredText(build, 'status')
  const createdAtNs = unixSeconds(build, 'created')
  const startedAtNs = unixSeconds(build, 'started')
  const sha = text(build, 'after')
  const before = text(build, 'before')
  const username =
    text(build, 'cron') === undefined ? (userName(build, 'sender') ?? userName(build, 'author_login')) : undefined
  const stages = sections(build, 'stages')
  return {
    ...absentRunFields,
    ...readRef(build),
    forge: 'drone',
    id: requiredId(build, 'id'),
    iid: id(build, 'number'),
    status: droneStatus(word),
    sha,
    beforeSha: before !== undefined && !/^0+$/.test(before) ? before : undefined,
    source: text(build, 'event'),
    createdAtNs,
    startedAtNs,
    updatedAtNs: unixSeconds(build, 'updated'),
    finishedAtNs: unixSeconds(build, 'finished'),
    queuedSeconds: secondsBetween(createdAtNs, startedAtNs),
    failureReason: droneFailureReason(word),
    mergeRequest: readMergeRequest(build),
    user: toUser(undefined, username),
    commit: toCommit(sha, text(build, 'message')),
    project: unknownProject,
    unnamed: ['instanceId', 'project'],
    jobs: sortJobs((stages ?? []).map(readStage)),
    jobsUnknown: stages === undefined ? true : undefined,
    bridgesListed: false,
    receivedAtNs,
  }
}

/** Returns the ref. The source branch of a pull request is `source`; for other builds, it equals the target. */
function readRef(build: Fields): Pick<PipelineRecord, 'ref' | 'tag'> {
  const tag = tagInRef(text(build, 'ref'))
  if (tag !== undefined) return { ref: tag, tag: true }
  const name = text(build, 'source') ?? text(build, 'target')
  return { ref: name, tag: name === undefined ? undefined : false }
}

function readMergeRequest(build: Fields): MergeRequestRecord | undefined {
  const iid = requestNumberInRef(text(build, 'ref'))
  const isRequest = text(build, 'event') === 'pull_request'
  if (!isRequest && iid === undefined) return undefined
  return { ...absentMergeRequestFields, iid, title: text(build, 'title'), targetBranch: text(build, 'target') }
}

/** Reads a stage, which is a job of the record. Its steps are below it. */
function readStage(stage: Fields): JobRecord {
  const word = requiredText(stage, 'status')
  const createdAtNs = unixSeconds(stage, 'created')
  const startedAtNs = unixSeconds(stage, 'started')
  const machine = text(stage, 'machine')
  return {
    ...absentJobFields,
    id: requiredId(stage, 'id'),
    bridge: false,
    name: text(stage, 'name'),
    status: droneStatus(word),
    createdAtNs,
    startedAtNs,
    finishedAtNs: unixSeconds(stage, 'stopped'),
    queuedSeconds: secondsBetween(createdAtNs, startedAtNs),
    failureReason: droneFailureReason(word),
    allowFailure: flag(stage, 'errignore') === true,
    runner: machine === undefined ? undefined : { ...absentRunnerFields, name: machine },
    effective: true,
    steps: sections(stage, 'steps')?.toSorted(byNumber).map(readStep),
  }
}

const byNumber = (one: Fields, other: Fields): number => (count(one, 'number') ?? 0) - (count(other, 'number') ?? 0)

const readStep = (step: Fields): StepRecord => ({
  name: text(step, 'name'),
  status: droneStatus(requiredText(step, 'status')),
  startedAtNs: unixSeconds(step, 'started'),
  finishedAtNs: unixSeconds(step, 'stopped'),
})
