import {
  date,
  type Fields,
  flag,
  id,
  requiredId,
  requiredSection,
  requiredText,
  runId,
  section,
  sections,
  text,
} from '../body/fields.ts'
import { requestNumberInRef, tagInRef } from '../body/ref.ts'
import { lastSegment, repositoryPath, repositoryUrl, url } from '../body/url.ts'
import { userName } from '../body/user-name.ts'
import { absentMergeRequestFields, absentRunFields } from '../record/absent-fields.ts'
import { secondsBetween } from '../record/durations.ts'
import type {
  MergeRequestRecord,
  PipelineRecord,
  ProjectRecord,
  UpstreamPipeline,
  UserRecord,
} from '../record/pipeline-record.ts'
import { toCommit, toUser } from '../record/run-origin.ts'
import { azureServer } from './server.ts'
import { azureFailureReason, azureStatus } from './status-words.ts'
import { readTimeline } from './timeline.ts'

const FORGE = 'azure'
/** The result of a build that has not ended. */
const NO_RESULT = 'none'

/** Reads `build.complete`, which has no jobs. Its resource is a build, in version 1.0 an older form of one. */
export function readBuildHook(hook: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  return { ...readRun(requiredSection(hook, 'resource'), receivedAtNs), jobs: [], jobsUnknown: true }
}

/** Reads `{ build, timeline }` of the REST API. A build that never ran has no timeline. */
export function readBundle(bundle: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const run = readRun(requiredSection(bundle, 'build'), receivedAtNs)
  const timeline = readTimeline(bundle, run.url)
  return timeline === undefined ? { ...run, jobs: [], jobsUnknown: true } : { ...run, ...timeline }
}

function readRun(build: Fields, receivedAtNs: bigint | undefined): Omit<PipelineRecord, 'jobs'> {
  const definition = section(build, 'definition')
  const trigger = section(build, 'triggerInfo')
  const message = trigger && text(trigger, 'ci.message')
  const source = readSource(build)
  const result = text(build, 'result')
  const word = result === undefined || result === NO_RESULT ? requiredText(build, 'status') : result
  const createdAtNs = date(build, 'queueTime')
  const startedAtNs = date(build, 'startTime')
  const webUrl = readWebUrl(build)
  const server = azureServer(url(build, 'url')) ?? azureServer(webUrl)
  return {
    ...absentRunFields,
    ...readRef(source.branch, trigger),
    forge: FORGE,
    id: requiredId(build, 'id'),
    name: definition && text(definition, 'name'),
    status: azureStatus(word),
    sha: source.version,
    source: text(build, 'reason'),
    createdAtNs,
    startedAtNs,
    finishedAtNs: date(build, 'finishTime'),
    queuedSeconds: secondsBetween(createdAtNs, startedAtNs),
    url: webUrl,
    failureReason: azureFailureReason(word),
    upstream: readUpstream(build),
    mergeRequest: readMergeRequest(source.branch, trigger),
    user: readUser(build),
    commit: message === undefined ? undefined : toCommit(source.version, message),
    project: { ...readProject(build), server },
    bridgesListed: false,
    receivedAtNs,
  }
}

/** Reads the branch and the commit. Version 1.0 of the hook has both in `LG:refs/heads/main:<commit>`. */
function readSource(build: Fields): { readonly branch: string | undefined; readonly version: string | undefined } {
  const [, branch, version] = /^L?G:(refs\/.+):([\da-f]{7,64})$/i.exec(text(build, 'sourceGetVersion') ?? '') ?? []
  return { branch: text(build, 'sourceBranch') ?? branch, version: text(build, 'sourceVersion') ?? version }
}

const BRANCHES = 'refs/heads/'
const withoutPrefix = (ref: string): string => (ref.startsWith(BRANCHES) ? ref.slice(BRANCHES.length) : ref)

/** Returns the ref of a build. A build of a pull request is of `refs/pull/7/merge`; its trigger may name the branch. */
function readRef(branch: string | undefined, trigger: Fields | undefined): Pick<PipelineRecord, 'ref' | 'tag'> {
  if (branch === undefined) return { ref: undefined, tag: undefined }
  const tag = tagInRef(branch)
  if (tag !== undefined) return { ref: tag, tag: true }
  const head = trigger && text(trigger, 'pr.sourceBranch')
  return { ref: withoutPrefix(head ?? branch), tag: false }
}

function readMergeRequest(branch: string | undefined, trigger: Fields | undefined): MergeRequestRecord | undefined {
  const iid = (trigger && id(trigger, 'pr.number')) ?? requestNumberInRef(branch)
  if (iid === undefined) return undefined
  return {
    ...absentMergeRequestFields,
    iid,
    title: trigger && text(trigger, 'pr.title'),
    draft: trigger !== undefined && (trigger.values['pr.draft'] === 'true' || flag(trigger, 'pr.draft') === true),
  }
}

/** Reads the build that started this one when it ended. It is in a trace of its own. */
function readUpstream(build: Fields): UpstreamPipeline | undefined {
  const by = section(build, 'triggeredByBuild')
  const pipelineId = by && id(by, 'id')
  if (pipelineId === undefined) return undefined
  return { pipelineId, bridgeId: undefined, otherProject: true, projectWebUrl: undefined }
}

/** Reads the user that the build was made for. Their unique name is an e-mail address, which is not read. */
function readUser(build: Fields): UserRecord | undefined {
  const request = sections(build, 'requests')?.[0]
  const user = section(build, 'requestedFor') ?? (request && section(request, 'requestedFor'))
  return user && toUser(runId(user, 'id'), userName(user, 'displayName'))
}

/** Reads the repository. One of Azure Repos has a path such as `org/project/_git/repository`. */
function readProject(build: Fields): ProjectRecord {
  const repository = section(build, 'repository')
  const webUrl = repositoryUrl(repository && url(repository, 'url'))
  const path = repositoryPath(webUrl)?.replace('/_git/', '/') ?? (repository && text(repository, 'name'))
  const project = section(build, 'project')
  return {
    id: project && runId(project, 'id'),
    name: path === undefined ? project && text(project, 'name') : lastSegment(path),
    webUrl,
    path,
  }
}

/** Reads the web URL of a build. Version 1.0 of the hook has the URL of the API only. */
function readWebUrl(build: Fields): string | undefined {
  const links = section(build, '_links')
  const web = links && section(links, 'web')
  const given = web && url(web, 'href')
  if (given !== undefined) return given
  return /^(https?:\/\/.+)\/_apis\/build\/builds\/(\d+)/i
    .exec(url(build, 'url') ?? '')
    ?.slice(1)
    .join('/_build/results?buildId=')
}
