import { z } from 'zod'
import type { Listed } from '../kit/listing.ts'
import { listedEach } from '../kit/listing.ts'
import { unscopedBatchQuery } from '../operations/operation.ts'
import { type Pipeline, pipelinesOfEachInput } from '../pipelines/pipeline.ts'
import { newestOfEach, pipelineListing, pipelineQuery } from '../pipelines/pipeline-store.ts'
import type { MergeRequest } from './merge-request.ts'
import { projectsAllowing } from './merge-request-projects.ts'

/** Lists the pipelines of each merge request's source branch, newest first. */
export const listPipelinesOfEachMergeRequest = unscopedBatchQuery(
  { name: 'listPipelinesOfEachMergeRequest', input: pipelinesOfEachInput },
  async (context, mergeRequests: readonly MergeRequest[], filter): Promise<(Listed<Pipeline> | undefined)[]> => {
    const readable = await projectsAllowing(context, mergeRequests, 'read_pipeline')
    const queries = mergeRequests.map(({ projectId, sourceBranch }) =>
      pipelineQuery(context, projectId, filter).where('pipelines.ref', '=', sourceBranch),
    )
    const lists = listedEach(pipelineListing(context, queries), mergeRequests.length)
    return lists.map((list, index) => (readable.has(mergeRequests[index]!.projectId) ? list : undefined))
  },
)

/**
 * Returns the newest pipeline of each source branch. If the branch still exists, only pipelines of its head commit
 * count.
 */
export const headPipelineOfEachMergeRequest = unscopedBatchQuery(
  { name: 'headPipelineOfEachMergeRequest', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<(Pipeline | undefined)[]> => {
    const readable = await projectsAllowing(context, mergeRequests, 'read_pipeline')
    const queries = mergeRequests.map(({ projectId, sourceBranch, sha }) =>
      pipelineQuery(context, projectId, { ref: sourceBranch, ...(sha !== undefined && { sha }) }),
    )
    const found = await newestOfEach(context, queries)
    return found.map((pipeline, index) => (readable.has(mergeRequests[index]!.projectId) ? pipeline : undefined))
  },
)
