/**
 * Readers for the objects that hooks and REST answers share. Each returns the record of a field, or `undefined` if the
 * field is null or has no usable value: some relays write `{ id: 0, description: "" }` in place of null.
 */

import {
  byteSize,
  date,
  type Fields,
  flag,
  id,
  isObject,
  requiredText,
  section,
  sectionWhere,
  text,
  texts,
  warn,
} from '../body/fields.ts'
import { projectUrl, url } from '../body/url.ts'
import { absentMergeRequestFields } from '../record/absent-fields.ts'
import type {
  ArtifactsRecord,
  CommitRecord,
  EnvironmentRecord,
  MergeRequestRecord,
  ProjectRecord,
  RunnerRecord,
  UserRecord,
} from '../record/pipeline-record.ts'
import { canonicalStatus } from './status-words.ts'
import { projectUrlIn } from './web-url.ts'

const draftTitle = /^\s*(?:draft:|\[draft\]|\(draft\)|wip:|\[wip\])/i
const mergeRequestRef = /^refs\/merge-requests\/(\d{1,18})\//

export function readStatus(fields: Fields, key: string): string {
  return canonicalStatus(requiredText(fields, key))
}

/** Reads `detailed_status`, which is a text in hooks and an object in REST. */
export function readDetailedStatus(run: Fields): string | undefined {
  if (!isObject(run.values.detailed_status)) return text(run, 'detailed_status')
  const status = section(run, 'detailed_status')!
  return text(status, 'label') ?? text(status, 'text')
}

/** Reads a project. If its URL is missing, it is derived from the pipeline's URL. */
export function readProject(project: Fields | undefined, pipelineUrl: string | undefined): ProjectRecord {
  return {
    id: project && id(project, 'id'),
    name: project && text(project, 'name'),
    webUrl: projectUrl(project && url(project, 'web_url')) ?? projectUrlIn(pipelineUrl),
    path: project && text(project, 'path_with_namespace'),
  }
}

export function readUser(owner: Fields): UserRecord | undefined {
  const user = section(owner, 'user')
  if (user === undefined) return undefined
  const record = { id: id(user, 'id'), username: text(user, 'username') }
  return record.id === undefined && record.username === undefined ? undefined : record
}

export function readCommit(owner: Fields): CommitRecord | undefined {
  const commit = section(owner, 'commit')
  if (commit === undefined) return undefined
  const record = { id: text(commit, 'id'), title: text(commit, 'title'), message: text(commit, 'message') }
  return record.id === undefined && record.title === undefined && record.message === undefined ? undefined : record
}

/** Reads the merge request. If it is missing, its iid is read from a ref such as `refs/merge-requests/7/head`. */
export function readMergeRequest(owner: Fields, ref: string | undefined): MergeRequestRecord | undefined {
  const request = section(owner, 'merge_request')
  if (request === undefined) {
    const iid = ref === undefined ? undefined : mergeRequestRef.exec(ref)?.[1]
    return iid === undefined || BigInt(iid) === 0n ? undefined : { ...absentMergeRequestFields, iid: BigInt(iid) }
  }
  const title = text(request, 'title')
  const markedDraft = flag(request, 'draft') === true || flag(request, 'work_in_progress') === true
  const record = {
    id: id(request, 'id'),
    iid: id(request, 'iid'),
    title,
    state: text(request, 'state'),
    draft: markedDraft || (title !== undefined && draftTitle.test(title)),
    targetBranch: text(request, 'target_branch'),
  }
  const known = record.id ?? record.iid ?? record.title ?? record.state ?? record.targetBranch
  return known === undefined ? undefined : record
}

export function readRunner(owner: Fields): RunnerRecord | undefined {
  const runner = section(owner, 'runner')
  if (runner === undefined) return undefined
  const runnerId = id(runner, 'id')
  const description = text(runner, 'description')
  if (runnerId === undefined && description === undefined) return undefined
  const paused = flag(runner, 'paused')
  return {
    id: runnerId,
    description,
    tags: texts(runner, 'tags'),
    type: text(runner, 'runner_type'),
    active: flag(runner, 'active') ?? (paused === undefined ? undefined : !paused),
    isShared: flag(runner, 'is_shared'),
  }
}

export function readEnvironment(owner: Fields): EnvironmentRecord | undefined {
  const environment = section(owner, 'environment')
  if (environment === undefined) return undefined
  const record = {
    name: text(environment, 'name'),
    action: text(environment, 'action'),
    deploymentTier: text(environment, 'deployment_tier'),
  }
  return (record.name ?? record.action ?? record.deploymentTier) === undefined ? undefined : record
}

/**
 * Reads `artifacts_file`, else the archive among REST's `artifacts`. A file without a name means that there is none: some
 * versions report a size for a job without artifacts.
 */
export function readArtifacts(job: Fields): ArtifactsRecord | undefined {
  const file =
    section(job, 'artifacts_file') ?? sectionWhere(job, 'artifacts', ({ file_type }) => file_type === 'archive')
  if (file === undefined) return undefined
  const filename = text(file, 'filename')
  const size = byteSize(file, 'size')
  return filename === undefined ? undefined : { filename, size }
}

/** Returns whether the ref is a tag. If the field is missing, a full ref name decides. */
export function readTag(run: Fields, ref: string | undefined): boolean | undefined {
  const tag = flag(run, 'tag')
  if (tag !== undefined) return tag
  if (ref?.startsWith('refs/tags/')) return true
  return ref?.startsWith('refs/heads/') ? false : undefined
}

/** Reads `before_sha`; `undefined` if it is all zeros, which means that there is no previous commit. */
export function readBeforeSha(run: Fields): string | undefined {
  const sha = text(run, 'before_sha')
  return sha === undefined || /^0+$/.test(sha) ? undefined : sha
}

export function readFailureReason(owner: Fields, key: string, status: string): string | undefined {
  return status === 'failed' ? text(owner, key) : undefined
}

const weekNs = 7n * 86_400n * 1_000_000_000n
const clockSkewNs = 300n * 1_000_000_000n

/** Reads the end of a run. An end far from the time of receipt gets a warning, because backends silently drop such data. */
export function readEnd(run: Fields, receivedAtNs: bigint | undefined): bigint | undefined {
  const endNs = date(run, 'finished_at')
  if (endNs === undefined || receivedAtNs === undefined) return endNs
  if (endNs > receivedAtNs + clockSkewNs) warn(run, 'finished_at', 'lies in the future')
  if (endNs < receivedAtNs - weekNs) warn(run, 'finished_at', 'is more than a week old')
  return endNs
}
