import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import type { Listed } from '../../base/kit/listing.ts'
import { listedEach } from '../../base/kit/listing.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { type Pipeline, pipelinesOfEachInput } from '../../ci/pipelines/pipeline.ts'
import { pageOfPipelines, pipelineListing, pipelineQuery } from '../../ci/pipelines/pipeline-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { findHeadPipelines } from './head-pipelines.ts'
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

/** Returns the head pipeline of each merge request, as far as the actor may read pipelines. */
export const headPipelineOfEachMergeRequest = unscopedBatchQuery(
  { name: 'headPipelineOfEachMergeRequest', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<(Pipeline | undefined)[]> => {
    const readable = await projectsAllowing(context, mergeRequests, 'read_pipeline')
    const found = await findHeadPipelines(context, mergeRequests)
    return found.map((pipeline, index) => (readable.has(mergeRequests[index]!.projectId) ? pipeline : undefined))
  },
)
