import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Pipeline } from '../../ci/pipelines/pipeline.ts'
import { newestOfEach, pipelineQuery } from '../../ci/pipelines/pipeline-store.ts'
import type { MergeRequest } from './merge-request.ts'

/**
 * Returns the newest pipeline for each merge request or its source branch, without a check of permissions. If the branch still
 * exists, only pipelines that test its head commit are searched.
 */
export const findHeadPipelines = (
  context: ReadContext,
  mergeRequests: readonly Pick<MergeRequest, 'projectId' | 'iid' | 'sourceBranch' | 'sha'>[],
): Promise<(Pipeline | undefined)[]> =>
  newestOfEach(
    context,
    mergeRequests.map(({ projectId, ...mergeRequest }) => pipelineQuery(context, projectId, { mergeRequest })),
  )
