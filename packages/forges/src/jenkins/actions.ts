import { type Fields, flag, isObject, section, sections, text, texts } from '../body/fields.ts'
import { lastSegment, repositoryPath, repositoryUrl } from '../body/url.ts'
import { findEntry } from '../record/find-entry.ts'
import type { CommitRecord, PipelineRecord, ProjectRecord, UserRecord } from '../record/pipeline-record.ts'
import { toUser } from '../record/run-origin.ts'
import { displayName } from './job-name.ts'
import { sourceByCause } from './status-words.ts'

/** The facts of a build that plugins add to its list of actions. */
export interface ActionFacts extends Pick<PipelineRecord, 'ref' | 'tag' | 'sha' | 'source' | 'upstream'> {
  readonly user: UserRecord | undefined
  readonly commit: CommitRecord | undefined
  readonly project: Pick<ProjectRecord, 'name' | 'webUrl' | 'path'>
  readonly queuedSeconds: number | undefined
}

/** Reads the actions. Actions without fields are empty objects or null. */
export function readActions(build: Fields, names: readonly string[]): ActionFacts {
  const actions = listObjects(build, 'actions')
  const causes = actions.flatMap((action) => sections(action, 'causes') ?? [])
  const checkout = findCheckout(actions, names)
  const revision = checkout && section(checkout, 'lastBuiltRevision')
  const sha = revision && text(revision, 'SHA1')
  const branch = revision && sections(revision, 'branch')?.[0]
  const ref = readRef(branch && text(branch, 'name'))
  const webUrl = repositoryUrl(checkout && texts(checkout, 'remoteUrls')[0])
  const path = repositoryPath(webUrl)
  return {
    ...ref,
    sha,
    source: readSource(causes[0]),
    user: readUser(causes),
    upstream: readUpstream(causes),
    commit: sha === undefined ? undefined : readCommit(build, sha),
    project: { name: path === undefined ? undefined : lastSegment(path), webUrl, path },
    queuedSeconds: readQueueTime(actions),
  }
}

const listObjects = (owner: Fields, key: string): readonly Fields[] => {
  const value = owner.values[key]
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown, index) =>
    isObject(item) ? [{ values: item, parent: owner, key, index, warnings: owner.warnings }] : [],
  )
}

/**
 * Returns the checkout of the build's own repository: shared libraries are checked out, too. It is the one of the branch that the
 * job is named after, else the only one.
 */
function findCheckout(actions: readonly Fields[], names: readonly string[]): Fields | undefined {
  const checkouts = actions.filter((action) => isObject(action.values.lastBuiltRevision))
  const branch = names.at(-1) === undefined ? undefined : displayName(names.slice(-1))
  const isOwn = (checkout: Fields): boolean => {
    const revision = section(checkout, 'lastBuiltRevision')
    const built = revision && sections(revision, 'branch')?.[0]
    return branch !== undefined && readRef(built && text(built, 'name')).ref === branch
  }
  const remotes = new Set(checkouts.map((checkout) => texts(checkout, 'remoteUrls')[0]))
  return checkouts.find(isOwn) ?? (remotes.size === 1 ? checkouts[0] : undefined)
}

/** Returns the ref of a name such as `refs/remotes/origin/main`, `origin/main` or `refs/tags/v1`. */
export function readRef(name: string | undefined): Pick<PipelineRecord, 'ref' | 'tag'> {
  if (name === undefined || name === 'detached') return { ref: undefined, tag: undefined }
  const tag = /^(?:refs\/)?tags\/(.+)$/.exec(name)?.[1]
  if (tag !== undefined) return { ref: tag, tag: true }
  return { ref: name.replace(/^(?:refs\/remotes\/)?origin\/|^refs\/heads\//, ''), tag: false }
}

function readSource(cause: Fields | undefined): string | undefined {
  const className = cause && text(cause, '_class')
  if (className === undefined) return undefined
  return (
    findEntry(sourceByCause, className) ??
    className.slice(Math.max(className.lastIndexOf('.'), className.lastIndexOf('$')) + 1)
  )
}

function readUser(causes: readonly Fields[]): UserRecord | undefined {
  const username = causes.map((cause) => text(cause, 'userId')).find((id) => id !== undefined && !id.includes('@'))
  return toUser(undefined, username)
}

/** Reads the build of another job that has started this one. */
function readUpstream(causes: readonly Fields[]): PipelineRecord['upstream'] {
  for (const cause of causes) {
    const job = text(cause, 'upstreamProject')
    const number = cause.values.upstreamBuild
    if (job === undefined || typeof number !== 'number') continue
    return { pipelineId: `${job}#${number}`, bridgeId: undefined, otherProject: false, projectWebUrl: undefined }
  }
  return undefined
}

/** Reads the commit from the changes since the last build. Freestyle jobs have one change set, pipelines a list. */
function readCommit(build: Fields, sha: string): CommitRecord {
  const single = isObject(build.values.changeSet) ? section(build, 'changeSet') : undefined
  const sets = [...(sections(build, 'changeSets') ?? []), ...(single === undefined ? [] : [single])]
  const item = sets.flatMap((set) => sections(set, 'items') ?? []).find((each) => text(each, 'commitId') === sha)
  return {
    id: sha,
    title: item && text(item, 'msg'),
    message: item && (text(item, 'comment')?.trim() ?? text(item, 'msg')),
  }
}

/** Reads the time in the queue, which the metrics plugin adds. */
function readQueueTime(actions: readonly Fields[]): number | undefined {
  for (const { values } of actions) {
    const millis = values.queuingDurationMillis
    if (typeof millis === 'number' && millis >= 0) return millis / 1_000
  }
  return undefined
}

/** Returns whether a build is still running. */
export const isBuilding = (build: Fields): boolean => flag(build, 'building') === true
