import { standingOf } from '../../base/access/subject.ts'
import { changesBetween } from '../../base/git/commit-diff.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import type { Pipeline } from '../../ci/pipelines/pipeline.ts'
import { canMergeInto, defaultBranchRules } from '../../code/repositories/branch-protection.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import type { ShownIssuable } from '../issues/issuable.ts'
import { subscribedItems } from '../issues/participants.ts'
import { withBranchChecks } from './check-branches.ts'
import type { DescribedMergeRequest } from './merge-request.ts'
import { divergedCommitsOf, findRangeOfEachMergeRequest, type MergeRequestRange } from './merge-request-branches.ts'
import { headPipelineOfEachMergeRequest } from './merge-request-pipelines.ts'
import { mergeRequestTables } from './merge-request-store.ts'

/** A single merge request, as one user sees it. */
export type ShownMergeRequest = ShownIssuable<DescribedMergeRequest> & {
  /** Whether the actor may push to the target branch. */
  readonly canMerge: boolean
  readonly headPipeline: Pipeline | undefined
  /** `undefined` if a branch is missing, the actor may not read the repository, or the branches are too far apart. */
  readonly diffRefs: Pick<MergeRequestRange, 'baseSha' | 'headSha' | 'startSha'> | undefined
  /** The number of changed files; `1000+` beyond that. */
  readonly changesCount: string | undefined
  /** The number of commits of the target branch that the source branch does not have, if it was requested. */
  readonly divergedCommitsCount?: number | undefined
}

const MAX_COUNTED_FILES = 1_000

/** Reads the repository, so never call it in a transaction. */
export async function shownMergeRequest(
  context: ReadContext & OperationContext,
  project: Project,
  found: DescribedMergeRequest,
  { includeDivergedCommitsCount = false }: { readonly includeDivergedCommitsCount?: boolean } = {},
): Promise<ShownMergeRequest> {
  const [mergeRequest] = (await withBranchChecks(context, [found])) as [DescribedMergeRequest]
  const standing = await standingOf(context, context.actor, project)
  const subscribed = await subscribedItems(context, mergeRequestTables, context.actor, [mergeRequest])
  const [headPipeline] = await headPipelineOfEachMergeRequest.run(context, [mergeRequest], {})
  const [range] = await findRangeOfEachMergeRequest.run(context, [mergeRequest], {})
  return {
    ...mergeRequest,
    isSubscribed: subscribed.has(mergeRequest.id),
    canMerge: canMergeInto(standing, await defaultBranchRules(context, project), {
      isDefault: mergeRequest.targetBranch === project.defaultBranch,
    }),
    headPipeline,
    diffRefs: range,
    changesCount: range && (await countChangedFiles(context, range)),
    ...(includeDivergedCommitsCount && { divergedCommitsCount: range && (await divergedCommitsOf(context, range)) }),
  }
}

async function countChangedFiles({ core }: OperationContext, { project, trees }: MergeRequestRange) {
  const repository = await findProjectRepository(core, project)
  if (repository === undefined) return undefined
  const { length } = await changesBetween(repository.git, trees, MAX_COUNTED_FILES + 1)
  return length > MAX_COUNTED_FILES ? `${MAX_COUNTED_FILES}+` : String(length)
}
