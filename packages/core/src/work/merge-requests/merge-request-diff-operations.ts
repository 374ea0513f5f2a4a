import { z } from 'zod'
import { refused } from '../../base/git/commit-actions.ts'
import { changesToShow, diffsOfPage, type FileDiff, type ShownDiffs, shownDiffs } from '../../base/git/commit-diff.ts'
import { type CommitRange, cachedCommitReader, rangeOf } from '../../base/git/commit-range.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { mapPage, type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { CallContext } from '../../base/operations/context.ts'
import { query } from '../../base/operations/operation.ts'
import type { Commit } from '../../code/repositories/commit.ts'
import { pageOfArray } from '../../code/repositories/commit-operations.ts'
import { comparedCommits } from '../../code/repositories/compared-commits.ts'
import { findProjectRepository, type ProjectRepository } from '../../code/repositories/project-repository.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { getMergeRequest } from './merge-request-changes.ts'
import { type ShownMergeRequest, shownMergeRequest } from './merge-request-details.ts'
import { branchTipsOf, tipKey } from './merge-request-store.ts'
import { findNewestVersion, type MergeRequestVersion, pageOfVersions } from './merge-request-version-list.ts'

/** The limits of commits that the answer to one request reads. */
const BUDGET = { commits: 20_000, steps: 40_000 }

// `read_merge_request` includes reading the repository: a project cannot restrict its repository more than its merge requests.
const oneMergeRequest = { project: namespaceRef, mergeRequestIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: number | string }) =>
  getProject(context, project)

/** Lists the commits of the source branch that the target branch does not have, newest first. */
export const listMergeRequestCommits = query(
  {
    name: 'listMergeRequestCommits',
    caller: 'anyone',
    input: z.object({ ...oneMergeRequest, ...pageInput }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, ...page }): Promise<Page<Commit>> => {
    const { range, repository } = await rangeOfMergeRequest(context, mergeRequestIid)
    const commits = pageOfArray(range?.commits ?? [], page)
    return {
      ...commits,
      items: repository === undefined ? [] : await comparedCommits(context.subject, repository.git, commits.items),
    }
  },
)

/** Lists the changed files of a merge request, ordered by path. */
export const listMergeRequestDiffs = query(
  {
    name: 'listMergeRequestDiffs',
    caller: 'anyone',
    input: z.object({ ...oneMergeRequest, unidiff: z.boolean().nullish(), ...pageInput }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, unidiff, ...page }): Promise<Page<FileDiff>> => {
    const { range, repository } = await rangeOfMergeRequest(context, mergeRequestIid)
    const changes = pageOfArray(await changesOf(repository, range), page)
    return {
      ...changes,
      items: repository === undefined ? [] : await diffsOfPage(repository.git, changes.items, { unidiff }),
    }
  },
)

export interface MergeRequestChanges extends ShownDiffs {
  readonly mergeRequest: ShownMergeRequest
}

export const getMergeRequestChanges = query(
  {
    name: 'getMergeRequestChanges',
    caller: 'anyone',
    input: z.object({ ...oneMergeRequest, unidiff: z.boolean().nullish() }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, unidiff }): Promise<MergeRequestChanges> => {
    const { mergeRequest, range, repository } = await rangeOfMergeRequest(context, mergeRequestIid)
    const changes = await changesOf(repository, range)
    const shown = await shownMergeRequest(context, context.subject, mergeRequest)
    if (repository === undefined) return { mergeRequest: shown, diffs: [], isIncomplete: false }
    return { mergeRequest: shown, ...(await shownDiffs(repository.git, changes, { unidiff })) }
  },
)

/** A version with the base of its commits, and the number of files that they changed. */
export interface DescribedVersion extends MergeRequestVersion {
  /** The newest commit of both branches, or `undefined` if they have no common history. */
  readonly baseSha: string | undefined
  readonly fileCount: number
}

export interface VersionWithDiffs extends DescribedVersion {
  readonly commits: readonly Commit[]
  readonly diffs: readonly FileDiff[]
}

/** Lists the states of the source branch since the merge request was created, newest first. */
export const listMergeRequestVersions = query(
  {
    name: 'listMergeRequestVersions',
    caller: 'anyone',
    input: z.object({ ...oneMergeRequest, ...pageInput }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, ...page }): Promise<Page<DescribedVersion>> => {
    const { id } = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
    const versions = await pageOfVersions(context, id, page)
    const repository = await findProjectRepository(context.core, context.subject)
    const read = repository && cachedCommitReader(repository.git, { ...BUDGET })
    const described = new Map<number, DescribedVersion>()
    for (const version of versions.items) {
      const range = read && (await requireRange(read, version))
      const { length: fileCount } = await changesOf(repository, range)
      described.set(version.id, { ...version, baseSha: range?.base?.oid, fileCount })
    }
    return mapPage(versions, ({ id: each }) => described.get(each)!)
  },
)

export const getMergeRequestVersion = query(
  {
    name: 'getMergeRequestVersion',
    caller: 'anyone',
    input: z.object({ ...oneMergeRequest, versionId: z.int(), unidiff: z.boolean().nullish() }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, versionId, unidiff }): Promise<VersionWithDiffs> => {
    const { id } = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
    const version = await findNewestVersion(context, id, versionId)
    const repository = await findProjectRepository(context.core, context.subject)
    if (version === undefined || repository === undefined) throw notFound()
    const range = await requireRange(cachedCommitReader(repository.git, { ...BUDGET }), version)
    const changes = await changesOf(repository, range)
    const { diffs } = await shownDiffs(repository.git, changes, { unidiff })
    return {
      ...version,
      baseSha: range?.base?.oid,
      fileCount: changes.length,
      commits: await comparedCommits(context.subject, repository.git, range?.commits ?? []),
      diffs,
    }
  },
)

/**
 * Returns the range between the branches of an open merge request. If it is not open, or a branch has been deleted,
 * returns the range of its last version.
 */
async function rangeOfMergeRequest(
  context: CallContext & ReadContext & { readonly subject: Project },
  mergeRequestIid: number,
) {
  const mergeRequest = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
  const { projectId, state, sha, targetBranch } = mergeRequest
  const tips = await branchTipsOf(context, [mergeRequest])
  const startSha = tips.get(tipKey(projectId, targetBranch))
  const isLive = state === 'opened' && sha !== undefined && startSha !== undefined
  const shas = isLive ? { headSha: sha, startSha } : await findNewestVersion(context, mergeRequest.id)
  const repository = await findProjectRepository(context.core, context.subject)
  if (repository === undefined || shas === undefined) return { mergeRequest, range: undefined, repository }
  return {
    mergeRequest,
    range: await requireRange(cachedCommitReader(repository.git, { ...BUDGET }), shas),
    repository,
  }
}

/** Returns `undefined` for a version without a target branch. */
async function requireRange(
  read: ReturnType<typeof cachedCommitReader>,
  { headSha, startSha }: { readonly headSha: string; readonly startSha: string | undefined },
): Promise<CommitRange | undefined> {
  if (startSha === undefined) return undefined
  const range = await rangeOf(read, { headSha, startSha })
  if (range === undefined) throw refused('The history is too long to compare the branches')
  return range
}

/** Returns the changed files, at most one more than are shown. */
const changesOf = async (repository: ProjectRepository | undefined, range: CommitRange | undefined) =>
  repository === undefined || range === undefined
    ? []
    : changesToShow(repository.git, { before: range.base?.tree, after: range.head.tree })
