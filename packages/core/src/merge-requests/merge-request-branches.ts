import { z } from 'zod'
import type { Core } from '../kit/context.ts'
import { unscopedBatchQuery } from '../kit/operation.ts'
import type { Project } from '../projects/project.ts'
import { type ListedCommit, listedCommitOf } from '../repositories/commit.ts'
import { changesBetween, countFileStats, type DiffBudget, type FileStats } from '../repositories/commit-diff.ts'
import { countingAlone } from '../repositories/commit-stats.ts'
import type { GitRepository } from '../repositories/git-repository.ts'
import { findProjectRepository } from '../repositories/project-repository.ts'
import type { MergeRequest } from './merge-request.ts'
import { projectsAllowing } from './merge-request-projects.ts'
import { rangeOf, rememberedCommits } from './merge-request-range.ts'
import { branchTipsOf, tipKey } from './merge-request-store.ts'

/** Commits that are read for all the merge requests of a batch. */
const MOST_COMMITS_READ = 10_000
/** And that are gone through, again for each of them. */
const MOST_STEPS = 50_000

/** Whether there is still the branch that each is to go into. */
export const targetBranchesOfMergeRequests = unscopedBatchQuery(
  { name: 'targetBranchesOfMergeRequests', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<boolean[]> => {
    const tips = await branchTipsOf(context, mergeRequests)
    return mergeRequests.map(({ projectId, targetBranch }) => tips.has(tipKey(projectId, targetBranch)))
  },
)

/** What the source branch has that the target branch lacks. */
export interface MergeRequestRange {
  readonly project: Project
  /** Newest first. */
  readonly commits: readonly ListedCommit[]
  readonly headSha: string
  /** The tip of the target branch. */
  readonly startSha: string
  /** The last commit that both branches have; `undefined`: they have nothing in common. */
  readonly baseSha: string | undefined
  readonly trees: { readonly before: string | undefined; readonly after: string }
}

/** `undefined` where a branch is missing, where the actor may not read the repository, and where it is too much to read. */
export const findRangeOfEachMergeRequest = unscopedBatchQuery(
  { name: 'findRangeOfEachMergeRequest', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<(MergeRequestRange | undefined)[]> => {
    const projects = await projectsAllowing(context, mergeRequests, 'read_repository')
    const tips = await branchTipsOf(context, mergeRequests)
    const budget = { commits: MOST_COMMITS_READ, steps: MOST_STEPS }
    const readers = new Map<number, ReturnType<typeof rememberedCommits>>()
    for (const [id, { git }] of await repositoriesOf(context.core, [...projects.values()])) {
      readers.set(id, rememberedCommits(git, budget))
    }
    const ranges: (MergeRequestRange | undefined)[] = []
    // One after the other: each finds in memory what those before it have read.
    for (const { projectId, sha: headSha, targetBranch } of mergeRequests) {
      const [project, read] = [projects.get(projectId), readers.get(projectId)]
      const startSha = tips.get(tipKey(projectId, targetBranch))
      const isWhole = project && read && headSha !== undefined && startSha !== undefined
      const range = isWhole ? await rangeOf(read, { headSha, startSha }) : undefined
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

/** Lines added and removed, by file. `undefined` where that is more than one request may count. */
export const diffStatsOfRanges = unscopedBatchQuery(
  { name: 'diffStatsOfRanges', input: z.object({}) },
  async ({ core }, ranges: readonly MergeRequestRange[]): Promise<(readonly FileStats[] | undefined)[]> => {
    const repositories = await repositoriesOf(
      core,
      ranges.map(({ project }) => project),
    )
    const counted = await countingAlone(core, async (budget) => {
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
