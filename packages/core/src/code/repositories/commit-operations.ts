import { z } from 'zod'
import { commitActions } from '../../base/git/commit-actions.ts'
import { changesOfCommit, type DiffStats, diffsOfPage, type FileDiff } from '../../base/git/commit-diff.ts'
import { statsOf } from '../../base/git/commit-stats.ts'
import { listReferences } from '../../base/git/git-reference.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { type HistoryCommit, history } from '../../base/git/history.ts'
import { segmentsOf } from '../../base/git/repository-path.ts'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { type Page, type PageRequest, pageInput } from '../../base/kit/page.ts'
import { instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { findUser } from '../../identity/users/user-store.ts'
import { pushGuard } from './branch-protection.ts'
import { type Commit, commitOfProject } from './commit.ts'
import { type Committer, commitToBranch } from './commit-to-branch.ts'
import { findProjectRepository, type ProjectRepository } from './project-repository.ts'

export const MAX_MESSAGE_LENGTH = 1_048_576

/** The input that all operations with a commit share. */
export const commitInput = {
  branch: z.string().min(1),
  commitMessage: z.string().min(1).max(MAX_MESSAGE_LENGTH),
  startBranch: z.string().nullish(),
  authorEmail: z.string().max(255).nullish(),
  authorName: z.string().max(255).nullish(),
}

export const revision = z.string().min(1).max(1_024)

/** A commit with the number of changed lines. */
export interface CommitWithStats extends Commit {
  /** `undefined` if it was not requested, or is too much to count. */
  readonly stats: DiffStats | undefined
}

export const createCommit = steps(
  {
    name: 'createCommit',
    input: z
      .object({
        project: namespaceRef,
        ...commitInput,
        actions: commitActions,
        startSha: revision.nullish(),
        stats: z.boolean().nullish(),
        force: z.boolean().nullish(),
      })
      .superRefine(({ startBranch, startSha }, context) => {
        const names = ['startBranch', 'startSha']
        if (startBranch && startSha) context.addIssue(problem('mutually_exclusive', { names }))
      }, acrossParameters),
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  async (context, input): Promise<CommitWithStats> => {
    const { core, subject } = context
    const request = {
      branch: input.branch,
      message: input.commitMessage,
      actions: input.actions,
      start: input.startBranch || input.startSha || undefined,
      force: input.force ?? false,
      authorName: input.authorName || undefined,
      authorEmail: input.authorEmail || undefined,
    }
    const committer = await requireCommitter(context)
    const commit = await commitToBranch(context, subject, committer, request, await pushGuard(context))
    if (input.stats === false) return { ...commit, stats: undefined }
    const repository = await findProjectRepository(core, subject)
    return { ...commit, stats: repository && (await statsOf(core, repository.git, [commit.sha]))[0] }
  },
)

export const listCommits = query(
  {
    name: 'listCommits',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      refName: revision.nullish(),
      since: instant.nullish(),
      until: instant.nullish(),
      path: z.string().max(4_096).nullish(),
      author: z.string().max(255).nullish(),
      all: z.boolean().nullish(),
      firstParent: z.boolean().nullish(),
      /** The other order of GitLab, `topo`, is not supported. */
      order: z.literal('default').optional(),
      withStats: z.boolean().nullish(),
      trailers: z.boolean().nullish(),
      ...pageInput,
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, input): Promise<Page<CommitWithStats>> => {
    const repository = await findProjectRepository(core, subject)
    if (repository === undefined) return { ...emptyPage, page: input.page, perPage: input.perPage }
    const segments = input.path ? segmentsOf(input.path.replace(/\/$/, '')) : undefined
    if (input.path && segments === undefined) return { ...emptyPage, page: input.page, perPage: input.perPage }
    const tips = input.all ? await allTips(repository.git) : [await tipOf(repository, input.refName || undefined)]
    const found = history(
      repository.git,
      tips.filter((tip) => tip !== undefined),
      {
        segments,
        sinceMs: input.since ?? undefined,
        untilMs: input.until ?? undefined,
        author: input.author ?? undefined,
        firstParentOnly: input.firstParent ?? false,
      },
    )
    const page = await pageOfHistory(repository.git, found, input)
    const oids = input.withStats ? page.items.map(({ oid }) => oid) : []
    const stats = await statsOf(core, repository.git, oids)
    const shown = (commit: HistoryCommit, index: number): CommitWithStats => ({
      ...commitOfProject(subject, commit, { withTrailers: input.trailers === true }),
      stats: stats[index],
    })
    return { ...page, items: page.items.map(shown) }
  },
)

export const getCommitInput = z.object({ project: namespaceRef, sha: revision, stats: z.boolean().nullish() })

export const getCommit = query(
  {
    name: 'getCommit',
    caller: 'anyone',
    input: getCommitInput,
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  ({ core, subject }, input) => readCommit(core, subject, input),
)

/** @throws DomainError `not_found` */
export async function readCommit(
  core: Core,
  project: Project,
  { sha, stats }: z.output<typeof getCommitInput>,
): Promise<CommitWithStats> {
  const repository = await findProjectRepository(core, project)
  const oid = await repository?.findCommit(sha)
  if (repository === undefined || oid === undefined) throw notFound('Commit')
  return {
    ...commitOfProject(project, { oid, ...(await repository.git.shownCommit(oid)) }),
    stats: stats === false ? undefined : (await statsOf(core, repository.git, [oid]))[0],
  }
}

/** Lists the changes of a commit against its first parent, ordered by path. */
export const listCommitDiffs = query(
  {
    name: 'listCommitDiffs',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, sha: revision, unidiff: z.boolean().nullish(), ...pageInput }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { sha, unidiff, page, perPage }): Promise<Page<FileDiff>> => {
    const repository = await findProjectRepository(core, subject)
    const oid = await repository?.findCommit(sha)
    if (repository === undefined || oid === undefined) throw notFound('Commit')
    const changes = pageOfArray(await changesOfCommit(repository.git, oid), { page, perPage })
    return { ...changes, items: await diffsOfPage(repository.git, changes.items, { unidiff }) }
  },
)

/** @throws DomainError `unauthenticated` */
export async function requireCommitter(context: ReadContext & { readonly actor: Actor }): Promise<Committer> {
  const user = context.actor && (await findUser(context, context.actor.id))
  if (user === undefined) throw new DomainError({ code: 'unauthenticated' })
  return user
}

export function pageOfArray<Item>(all: readonly Item[], { page, perPage }: PageRequest): Page<Item> {
  const items = all.slice((page - 1) * perPage, page * perPage)
  return { items, page, perPage, hasNext: all.length > page * perPage, total: all.length }
}

const emptyPage = { items: [], hasNext: false, total: undefined } as const

/** Returns a page without a total, for which the whole history would have to be read. */
async function pageOfHistory(
  git: GitRepository,
  commits: AsyncIterable<HistoryCommit>,
  { page, perPage }: PageRequest,
): Promise<Page<HistoryCommit>> {
  const items: HistoryCommit[] = []
  const first = (page - 1) * perPage
  let index = 0
  for await (const commit of commits) {
    if (items.length === perPage) return { items, page, perPage, hasNext: true, total: undefined }
    if (index >= first) items.push(git.admitted(commit))
    index += 1
  }
  return { items, page, perPage, hasNext: false, total: undefined }
}

/**
 * Returns the commit of the ref or, without a ref, of the default branch. Returns `undefined` if there are no commits.
 * @throws DomainError `not_found` for an unknown ref
 */
async function tipOf(repository: ProjectRepository, refName: string | undefined): Promise<string | undefined> {
  const oid = await repository.findCommit(refName)
  if (oid === undefined && refName !== undefined) throw notFound('Reference')
  return oid
}

async function allTips(git: GitRepository): Promise<string[]> {
  const references = [...(await listReferences(git, 'heads')), ...(await listReferences(git, 'tags'))]
  const commits = await Promise.all(references.map(({ oid }) => git.commitNamedBy(oid)))
  return commits.filter((oid) => oid !== undefined)
}
