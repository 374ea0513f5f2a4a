import { z } from 'zod'
import { refused } from '../../base/git/commit-actions.ts'
import { changesToShow, type ShownDiffs, shownDiffs } from '../../base/git/commit-diff.ts'
import { type CommitRange, cachedCommitReader, rangeOf } from '../../base/git/commit-range.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { Project } from '../../base/model/project.ts'
import { query } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { type Commit, commitOfProject } from './commit.ts'
import { revision } from './commit-operations.ts'
import { comparedCommits } from './compared-commits.ts'
import { findProjectRepository, type ProjectRepository } from './project-repository.ts'

/** The limit of commits that a comparison reads. */
const MAX_COMMITS_READ = 20_000
const MAX_REFS = 20

/** The commits of one revision that another does not have, and the changed files. */
export interface Comparison extends ShownDiffs {
  readonly project: Project
  readonly from: string
  readonly to: string
  readonly isStraight: boolean
  /** Oldest first. */
  readonly commits: readonly Commit[]
  readonly isSameCommit: boolean
}

/**
 * Compares the revision `to` with the newest commit that it shares with `from`, or with `from` itself if `straight` is
 * set.
 */
export const compareRevisions = query(
  {
    name: 'compareRevisions',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      from: revision,
      to: revision,
      /** Repositories of other projects share no history, so only the project itself can be named. */
      fromProjectId: z.int().nullish(),
      straight: z.boolean().nullish(),
      unidiff: z.boolean().nullish(),
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { from, to, fromProjectId, straight, unidiff }): Promise<Comparison> => {
    if (fromProjectId && fromProjectId !== subject.id) throw notFound('Project')
    const repository = await findProjectRepository(core, subject)
    const [startSha, headSha] = [await repository?.findCommit(from), await repository?.findCommit(to)]
    if (repository === undefined || startSha === undefined || headSha === undefined) throw notFound('Ref')
    const { git } = repository
    const range = await requireRange(git, { startSha, headSha })
    const commits = await comparedCommits(subject, git, range.commits.toReversed())
    const before = straight ? (await git.commitHeader(startSha)).tree : range.base?.tree
    const changes = await changesToShow(git, { before, after: range.head.tree })
    return {
      project: subject,
      from,
      to,
      isStraight: straight === true,
      commits,
      ...(await shownDiffs(git, changes, { unidiff })),
      isSameCommit: startSha === headSha,
    }
  },
)

/** Returns the newest commit that the first revision shares with the others. */
export const findMergeBase = query(
  {
    name: 'findMergeBase',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, refs: z.array(revision).max(MAX_REFS) }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { refs }): Promise<Commit> => {
    if (refs.length < 2) throw refused('Provide at least 2 refs')
    const repository = await findProjectRepository(core, subject)
    const [headSha, startSha, ...otherShas] = await commitsNamed(repository, refs)
    const { base } = await requireRange(repository!.git, { headSha: headSha!, startSha: startSha!, otherShas })
    if (base === undefined) throw notFound('Merge Base')
    return commitOfProject(subject, { oid: base.oid, ...(await repository!.git.shownCommit(base.oid)) })
  },
)

async function commitsNamed(repository: ProjectRepository | undefined, refs: readonly string[]): Promise<string[]> {
  const commits: string[] = []
  for (const ref of refs) {
    const sha = await repository?.findCommit(ref)
    if (sha === undefined) throw refused(`Could not find ref: ${ref}`)
    commits.push(sha)
  }
  return commits
}

async function requireRange(git: GitRepository, shas: Parameters<typeof rangeOf>[1]): Promise<CommitRange> {
  const budget = { commits: MAX_COMMITS_READ, steps: 2 * MAX_COMMITS_READ }
  const range = await rangeOf(cachedCommitReader(git, budget), shas)
  if (range === undefined) throw refused('The history is too long to compare')
  return range
}
