import { z } from 'zod'
import { refused } from '../../base/git/commit-actions.ts'
import { commitsContaining } from '../../base/git/containing-references.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { MAX_SEARCHED } from '../../base/git/history.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query } from '../../base/operations/operation.ts'
import { pageOfArray, revision } from '../../code/repositories/commit-operations.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import type { DescribedMergeRequest } from './merge-request.ts'
import { pageOfMergeRequests } from './merge-request-list-store.ts'
import { type CommitsOfMergeRequest, commitsOfMergeRequests } from './merge-request-version-list.ts'

/** Lists the merge requests of the project that have a commit, or that created it when they were merged. */
export const listMergeRequestsOfCommit = query(
  {
    name: 'listMergeRequestsOfCommit',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, sha: revision, ...pageInput }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async (context, { sha, ...page }): Promise<Page<DescribedMergeRequest>> => {
    const repository = await findProjectRepository(context.core, context.subject)
    const oid = await repository?.findCommit(sha)
    if (repository === undefined || oid === undefined) throw notFound('Commit')
    const all = await commitsOfMergeRequests(context, context.subject.id, MAX_SEARCHED + 1)
    const ids = await idsWithCommit(repository.git, all, oid)
    if (ids === undefined) throw refused('The history is too long to find the merge requests of the commit')
    return ids.length === 0 ? pageOfArray([], page) : pageOfMergeRequests(context, context.actor, { ids }, page)
  },
)

/** Returns `undefined` if more than `MAX_SEARCHED` commits or merge requests would have to be visited. */
async function idsWithCommit(
  git: GitRepository,
  mergeRequests: readonly CommitsOfMergeRequest[],
  oid: string,
): Promise<number[] | undefined> {
  if (mergeRequests.length > MAX_SEARCHED) return undefined
  const tips = mergeRequests.flatMap(({ headSha, startSha }) => [headSha ?? [], startSha ?? []].flat())
  const containing = await commitsContaining(git, tips, oid)
  if (containing === undefined) return undefined
  const isNew = ({ headSha, startSha }: CommitsOfMergeRequest) =>
    headSha !== null && startSha !== null && containing.has(headSha) && !containing.has(startSha)
  return mergeRequests
    .filter((each) => isNew(each) || each.mergeCommitSha === oid || each.squashCommitSha === oid)
    .map(({ id }) => id)
}
