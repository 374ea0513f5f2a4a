import { z } from 'zod'
import { requirePermission } from '../access/subject.ts'
import type { Listed } from '../kit/listing.ts'
import { listedEach } from '../kit/listing.ts'
import { type Page, pageInput } from '../kit/page.ts'
import { namespaceRef } from '../kit/parameter-schemas.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { query, unscopedBatchQuery } from '../operations/operation.ts'
import { type Pipeline, pipelinesOfEachInput } from '../pipelines/pipeline.ts'
import { newestOfEach, pageOfPipelines, pipelineListing, pipelineQuery } from '../pipelines/pipeline-store.ts'
import { getProject } from '../projects/project-store.ts'
import type { MergeRequest } from './merge-request.ts'
import { getMergeRequest } from './merge-request-changes.ts'
import { projectsAllowing } from './merge-request-projects.ts'

/** Lists the pipelines for each merge request and those of its source branch, newest first. */
export const listPipelinesOfEachMergeRequest = unscopedBatchQuery(
  { name: 'listPipelinesOfEachMergeRequest', input: pipelinesOfEachInput },
  async (context, mergeRequests: readonly MergeRequest[], filter): Promise<(Listed<Pipeline> | undefined)[]> => {
    const readable = await projectsAllowing(context, mergeRequests, 'read_pipeline')
    const queries = mergeRequests.map(({ projectId, iid, sourceBranch }) =>
      pipelineQuery(context, projectId, { ...filter, mergeRequest: { iid, sourceBranch } }),
    )
    const lists = listedEach(pipelineListing(context, queries), mergeRequests.length)
    return lists.map((list, index) => (readable.has(mergeRequests[index]!.projectId) ? list : undefined))
  },
)

/** Lists the pipelines for a merge request and those of its source branch, newest first. */
export const listMergeRequestPipelines = query(
  {
    name: 'listMergeRequestPipelines',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, mergeRequestIid: z.int(), ...pageInput }),
    permission: 'read_merge_request',
    subject: (context, { project }) => getProject(context, project),
  },
  async (context, { mergeRequestIid, ...page }): Promise<Page<Pipeline>> => {
    await requirePermission(context, context.subject, 'read_pipeline')
    const { iid, sourceBranch } = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
    const filter = { mergeRequest: { iid, sourceBranch }, orderBy: 'id', sort: 'desc' } as const
    return pageOfPipelines(context, context.subject, filter, page)
  },
)

/**
 * Returns the newest pipeline for each merge request or its source branch, without a check of permissions. If the branch still
 * exists, only pipelines that test its head commit are searched.
 */
export const headPipelinesOf = (
  context: ReadContext,
  mergeRequests: readonly Pick<MergeRequest, 'projectId' | 'iid' | 'sourceBranch' | 'sha'>[],
): Promise<(Pipeline | undefined)[]> =>
  newestOfEach(
    context,
    mergeRequests.map(({ projectId, ...mergeRequest }) => pipelineQuery(context, projectId, { mergeRequest })),
  )

/** Returns the head pipeline of each merge request, as far as the actor may read pipelines. */
export const headPipelineOfEachMergeRequest = unscopedBatchQuery(
  { name: 'headPipelineOfEachMergeRequest', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<(Pipeline | undefined)[]> => {
    const readable = await projectsAllowing(context, mergeRequests, 'read_pipeline')
    const found = await headPipelinesOf(context, mergeRequests)
    return found.map((pipeline, index) => (readable.has(mergeRequests[index]!.projectId) ? pipeline : undefined))
  },
)
