import { z } from 'zod'
import { refused } from '../../base/git/commit-actions.ts'
import { findCommitById } from '../../base/git/revision.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { CallContext } from '../../base/operations/context.ts'
import { query, steps } from '../../base/operations/operation.ts'
import type { Commit } from '../../code/repositories/commit.ts'
import { comparedCommits } from '../../code/repositories/compared-commits.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { findUsersByEmail } from '../../identity/users/user-store.ts'
import {
  contextCommitsAmong,
  contextCommitsLike,
  countContextCommits,
  deleteContextCommits,
  insertContextCommits,
  pageOfContextCommits,
} from './context-commit-store.ts'
import { getMergeRequest, getMergeRequestToUpdate } from './merge-request-changes.ts'

/** The most commits that one request adds. */
const MAX_ADDED = 20
/** The most commits that one request removes. */
const MAX_REMOVED = 1_000
/** The most context commits of a merge request. */
const MAX_CONTEXT_COMMITS = 1_000

/** A commit that reviewers should know, although the merge request does not contain it. */
export interface ContextCommit {
  readonly commit: Commit
  /** The user with the author's address, if the actor may know that. */
  readonly author: User | undefined
}

const oneMergeRequest = { project: namespaceRef, mergeRequestIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: number | string }) =>
  getProject(context, project)
/** Full ids, or at least the first four digits. */
const commitIds = z.array(z.string().max(255)).min(1)

/**
 * Lists the context commits in the order in which they were added. Nothing keeps a commit in the repository after its branch
 * was removed, so that those which are gone are left out.
 */
export const listContextCommits = query(
  {
    name: 'listContextCommits',
    caller: 'anyone',
    input: z.object({ ...oneMergeRequest, ...pageInput }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, ...page }): Promise<Page<ContextCommit>> => {
    const { id } = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
    const shas = await pageOfContextCommits(context, id, page)
    const commits = await readCommits(context, await withoutMissing(context, shas.items))
    const emails = commits.map(({ author }) => author.email)
    const users = await findUsersByEmail(context, emails, context.actor)
    const items = commits.map((commit) => ({ commit, author: users.get(commit.author.email.toLowerCase()) }))
    return { ...shas, items }
  },
)

/** Adds commits of the project: all of them, or none. */
export const addContextCommits = steps(
  {
    name: 'addContextCommits',
    input: z.object({ ...oneMergeRequest, commits: commitIds }),
    permission: 'read_merge_request',
    subject: (context, { commits, ...input }) => {
      // As on GitLab, this comes before everything that depends on the project.
      if (commits.length > MAX_ADDED) throw refused(`Context commits array size should not be more than ${MAX_ADDED}`)
      return subject(context, input)
    },
  },
  async (context, { mergeRequestIid, commits: ids }): Promise<readonly Commit[]> => {
    const { id } = await getMergeRequestToUpdate(context, { mergeRequestIid })
    await requireNew(context, id, ids)
    const shas = await requireCommits(context, ids)
    await context.write(async (tx) => {
      const there = { ...tx, subject: await getProject(tx, context.subject.id) }
      await getMergeRequestToUpdate(there, { mergeRequestIid })
      await requireNew(tx, id, shas)
      if ((await countContextCommits(tx, id)) + shas.length > MAX_CONTEXT_COMMITS)
        throw refused(`A merge request can have at most ${MAX_CONTEXT_COMMITS} context commits`)
      await insertContextCommits(tx, id, shas)
      await tx.recordEvent({
        type: 'merge_request.context_commits_added',
        objectId: id,
        projectId: context.subject.id,
        details: { count: shas.length },
        changes: { contextCommits: { previous: null, current: shas } },
      })
    })
    return readCommits(context, shas)
  },
)

/** Removes context commits. Other commits of the project are ignored. */
export const removeContextCommits = steps(
  {
    name: 'removeContextCommits',
    input: z.object({ ...oneMergeRequest, commits: commitIds.max(MAX_REMOVED) }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, commits: ids }): Promise<void> => {
    const { id } = await getMergeRequestToUpdate(context, { mergeRequestIid })
    const shas = await requireCommits(context, ids, await contextCommitsAmong(context, id, ids))
    await context.write(async (tx) => {
      const there = { ...tx, subject: await getProject(tx, context.subject.id) }
      await getMergeRequestToUpdate(there, { mergeRequestIid })
      const removed = await deleteContextCommits(tx, id, shas)
      if (removed.length === 0) return
      await tx.recordEvent({
        type: 'merge_request.context_commits_removed',
        objectId: id,
        projectId: context.subject.id,
        details: { count: removed.length },
        changes: { contextCommits: { previous: removed, current: null } },
      })
    })
  },
)

type InProject = CallContext & ReadContext & { readonly subject: Project }

async function readCommits({ core, subject: project }: InProject, shas: readonly string[]): Promise<Commit[]> {
  const repository = shas.length === 0 ? undefined : await findProjectRepository(core, project)
  const headers = shas.map((oid) => ({ oid }))
  return repository === undefined ? [] : comparedCommits(project, repository.git, headers)
}

/** Returns the ids without those of commits that the repository has no longer. */
async function withoutMissing({ core, subject }: InProject, shas: readonly string[]): Promise<string[]> {
  const repository = await findProjectRepository(core, subject)
  const present: string[] = []
  for (const sha of shas) if ((await repository?.git.commitNamedBy(sha)) === sha) present.push(sha)
  return present
}

/** Rejects ids, or beginnings of ids, of commits that are context commits already. @throws DomainError `refused` */
async function requireNew(context: ReadContext, mergeRequestId: number, ids: readonly string[]): Promise<void> {
  const prefixes = ids.map((id) => id.toLowerCase()).filter((id) => /^[0-9a-f]+$/.test(id))
  const known = await contextCommitsLike(context, mergeRequestId, prefixes)
  if (known.length === 0) return
  const listed = known.map((sha) => JSON.stringify(sha)).join(', ')
  throw refused(`Context commits: [${listed}] are already created`)
}

/**
 * Returns the full ids in their order, each once.
 *
 * @param known full ids that are accepted although the repository has no such commits
 * @throws DomainError `refused` if one of the commits is unknown
 */
async function requireCommits(
  { core, subject: project }: InProject,
  ids: readonly string[],
  known: readonly string[] = [],
): Promise<string[]> {
  const repository = await findProjectRepository(core, project)
  const shas = new Set<string>()
  // Each one is read once: a message may have megabytes.
  for (const id of new Set(ids.map((each) => each.toLowerCase()))) {
    const sha = known.includes(id) ? id : repository && (await findCommitById(repository.git, id))
    if (sha === undefined) throw refused("One or more context commits' sha is not valid.")
    shas.add(sha)
  }
  return [...shas]
}
