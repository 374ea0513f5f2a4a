import { type Fields, section, text } from '../body/fields.ts'
import { tagInRef } from '../body/ref.ts'
import { lastSegment, repositoryPath, repositoryUrl, url } from '../body/url.ts'
import { userName } from '../body/user-name.ts'
import { absentMergeRequestFields } from '../record/absent-fields.ts'
import { findEntry } from '../record/find-entry.ts'
import type { CommitRecord, MergeRequestRecord, PipelineRecord, ProjectRecord } from '../record/pipeline-record.ts'
import { toUser } from '../record/run-origin.ts'

/** The server that ids of CircleCI are unique on: they are UUIDs. */
const SERVER = 'circleci.com'

/** The hosts behind the first segment of a slug. Hooks write the long form, REST the short one. */
const vcsBySegment: Readonly<Record<string, { readonly long: string; readonly host: string }>> = {
  gh: { long: 'github', host: 'github.com' },
  github: { long: 'github', host: 'github.com' },
  bb: { long: 'bitbucket', host: 'bitbucket.org' },
  bitbucket: { long: 'bitbucket', host: 'bitbucket.org' },
}

/** The facts in a pipeline about its repository and its commit. */
export interface CircleciSource
  extends Pick<PipelineRecord, 'ref' | 'tag' | 'sha' | 'commit' | 'mergeRequest' | 'source' | 'user'> {
  readonly project: ProjectRecord
}

/**
 * Reads the repository and the commit of a pipeline: from `vcs`, which projects of a GitHub App lack, else from the parameters
 * of its trigger.
 *
 * @param project the project of a hook; REST has its slug only
 */
export function readSource(pipeline: Fields, project: Fields | undefined, slug: string | undefined): CircleciSource {
  const vcs = section(pipeline, 'vcs')
  const parameters = section(pipeline, 'trigger_parameters')
  const git = parameters && section(parameters, 'git')
  const trigger = section(pipeline, 'trigger')
  const actor = trigger && section(trigger, 'actor')
  const username = actor && userName(actor, 'login')
  const tag = (vcs && text(vcs, 'tag')) ?? tagInRef(git && text(git, 'ref'))
  const ref = tag ?? (vcs && text(vcs, 'branch')) ?? (git && text(git, 'branch'))
  const sha = (vcs && text(vcs, 'revision')) ?? (git && text(git, 'checkout_sha'))
  const webUrl = readRepositoryUrl(vcs, git) ?? slugUrl(slug)
  const path = repositoryPath(webUrl) ?? slugPath(slug)
  return {
    ref,
    tag: ref === undefined ? undefined : tag !== undefined,
    sha,
    source: trigger && text(trigger, 'type'),
    user: toUser(undefined, username),
    commit: readCommit(vcs, git, sha),
    mergeRequest: readMergeRequest(vcs),
    project: {
      id: project && text(project, 'id'),
      name: (project && text(project, 'name')) ?? (path === undefined ? undefined : lastSegment(path)),
      webUrl,
      path,
      server: SERVER,
    },
  }
}

function readRepositoryUrl(vcs: Fields | undefined, git: Fields | undefined): string | undefined {
  const given = (vcs && (url(vcs, 'target_repository_url') ?? url(vcs, 'origin_repository_url'))) ?? undefined
  return repositoryUrl(given ?? (git && (url(git, 'repo_url') ?? text(git, 'checkout_url'))))
}

/** Returns the slug with its long first segment, as web URLs have it. */
export function longSlug(slug: string): string {
  const [first = '', ...rest] = slug.split('/')
  return [findEntry(vcsBySegment, first)?.long ?? first, ...rest].join('/')
}

/** Returns the path of a repository in a slug. The slug of a project of a GitHub App has ids in its place. */
function slugPath(slug: string | undefined): string | undefined {
  const [first = '', ...rest] = slug?.split('/') ?? []
  return findEntry(vcsBySegment, first) !== undefined && rest.length > 1 ? rest.join('/') : undefined
}

function slugUrl(slug: string | undefined): string | undefined {
  const host = findEntry(vcsBySegment, slug?.split('/')[0] ?? '')?.host
  const path = slugPath(slug)
  return host === undefined || path === undefined ? undefined : `https://${host}/${path}`
}

function readCommit(vcs: Fields | undefined, git: Fields | undefined, sha: string | undefined) {
  const commit = vcs && section(vcs, 'commit')
  const title = (commit && text(commit, 'subject')) ?? (git && text(git, 'commit_title'))
  const body = commit && text(commit, 'body')
  const message = body === undefined ? ((git && text(git, 'commit_message')) ?? title) : `${title ?? ''}\n\n${body}`
  const record: CommitRecord = { id: sha, title, message: message?.trim() }
  return sha === undefined && title === undefined && message === undefined ? undefined : record
}

/** Reads the pull request. Its number is a text, and its URL is not an attribute. */
function readMergeRequest(vcs: Fields | undefined): MergeRequestRecord | undefined {
  const number = vcs && text(vcs, 'review_id')
  if (number === undefined || !/^[1-9]\d{0,17}$/.test(number)) return undefined
  return { ...absentMergeRequestFields, iid: BigInt(number) }
}
