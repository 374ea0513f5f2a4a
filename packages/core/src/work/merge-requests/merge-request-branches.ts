import { z } from 'zod'
import { changesBetween, countFileStats, type DiffBudget, type FileStats } from '../../base/git/commit-diff.ts'
import { cachedCommitReader, rangeOf } from '../../base/git/commit-range.ts'
import { withCountingBudget } from '../../base/git/commit-stats.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core, OperationContext } from '../../base/operations/context.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { type ListedCommit, listedCommitOf } from '../../code/repositories/commit.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import type { MergeRequest } from './merge-request.ts'
import { projectsAllowing } from './merge-request-projects.ts'
import { branchTipsOf, tipKey } from './merge-request-store.ts'
import { newestVersionsOf } from './merge-request-version-list.ts'

/** The limit of commits read from the repositories for a batch of merge requests. */
const MAX_COMMITS_READ = 10_000
/** The limit of commits visited, where a commit that several merge requests visit counts once for each. */
const MAX_STEPS = 50_000

/** Returns for each merge request whether its target branch exists. */
export const targetBranchesOfMergeRequests = unscopedBatchQuery(
  { name: 'targetBranchesOfMergeRequests', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<boolean[]> => {
    const tips = await branchTipsOf(context, mergeRequests)
    return mergeRequests.map(({ projectId, targetBranch }) => tips.has(tipKey(projectId, targetBranch)))
  },
)

/** The commits of the source branch that the target branch does not have. */
export interface MergeRequestRange {
  readonly project: Project
  /** Newest first. */
  readonly commits: readonly ListedCommit[]
  readonly headSha: string
  /** The tip of the target branch: the present one while the merge request is open, later the last one from that time. */
  readonly startSha: string
  /** The newest commit of both branches, or `undefined` if they have no common history. */
  readonly baseSha: string | undefined
  readonly trees: { readonly before: string | undefined; readonly after: string }
}

/**
 * Returns the commit range of each merge request; `undefined` if a branch is missing, the actor may not read the
 * repository, or the budget is used up.
 */
export const findRangeOfEachMergeRequest = unscopedBatchQuery(
  { name: 'findRangeOfEachMergeRequest', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<(MergeRequestRange | undefined)[]> => {
    const projects = await projectsAllowing(context, mergeRequests, 'read_repository')
    const tips = await branchTipsOf(context, mergeRequests)
    const endedIds = mergeRequests.filter(({ state }) => state !== 'opened').map(({ id }) => id)
    const ended = await newestVersionsOf(context, endedIds)
    const budget = { commits: MAX_COMMITS_READ, steps: MAX_STEPS }
    const readers = new Map<number, ReturnType<typeof cachedCommitReader>>()
    for (const [id, { git }] of await repositoriesOf(context.core, [...projects.values()])) {
      readers.set(id, cachedCommitReader(git, budget))
    }
    const ranges: (MergeRequestRange | undefined)[] = []
    // In sequence, so that each merge request uses the commits that earlier ones have cached.
    for (const { id, projectId, state, sha: headSha, targetBranch } of mergeRequests) {
      const [project, read] = [projects.get(projectId), readers.get(projectId)]
      // The target branch has the commits of a merged merge request, so it is compared with the branch as it was before.
      const startSha = state === 'opened' ? tips.get(tipKey(projectId, targetBranch)) : ended.get(id)?.startSha
      const isReadable = project && read && headSha !== undefined && startSha !== undefined
      const range = isReadable ? await rangeOf(read, { headSha, startSha }) : undefined
      ranges.push(
        range && {
          project: project!,
          commits: range.commits.map((commit) => listedCommitOf(project!, commit)),
          headSha: range.head.oid,
          startSha: range.startSha,
          baseSha: range.base?.oid,
          trees: { before: range.base?.tree, after: range.head.tree },
        },
      )
    }
    return ranges
  },
)

/** Returns the number of commits of the target branch that the source branch does not have; `undefined` beyond the budget. */
export async function divergedCommitsOf(
  { core }: OperationContext,
  { project, headSha, startSha }: MergeRequestRange,
): Promise<number | undefined> {
  const repository = await findProjectRepository(core, project)
  if (repository === undefined) return undefined
  const read = cachedCommitReader(repository.git, { commits: MAX_COMMITS_READ, steps: MAX_STEPS })
  return (await rangeOf(read, { headSha: startSha, startSha: headSha }))?.commits.length
}

/** Returns the lines added and removed by file, or `undefined` if counting them exceeds the limit of a request. */
export const diffStatsOfRanges = unscopedBatchQuery(
  { name: 'diffStatsOfRanges', input: z.object({}) },
  async ({ core }, ranges: readonly MergeRequestRange[]): Promise<(readonly FileStats[] | undefined)[]> => {
    const repositories = await repositoriesOf(
      core,
      ranges.map(({ project }) => project),
    )
    const counted = await withCountingBudget(core, async (budget) => {
      const stats: (readonly FileStats[] | undefined)[] = []
      for (const { project, trees } of ranges) {
        const repository = repositories.get(project.id)
        stats.push(repository && (await count(repository.git, trees, budget)))
      }
      return stats
    })
    return counted ?? ranges.map(() => undefined)
  },
)

async function count(git: GitRepository, trees: MergeRequestRange['trees'], budget: DiffBudget) {
  if (budget.files <= 0 || budget.bytes <= 0) return undefined
  return countFileStats(git, await changesBetween(git, trees, budget.files + 1), budget)
}

async function repositoriesOf(core: Core, projects: readonly Project[]) {
  const repositories = new Map<number, { readonly git: GitRepository }>()
  for (const project of projects) {
    const repository = repositories.has(project.id) ? undefined : await findProjectRepository(core, project)
    if (repository !== undefined) repositories.set(project.id, repository)
  }
  return repositories
}
