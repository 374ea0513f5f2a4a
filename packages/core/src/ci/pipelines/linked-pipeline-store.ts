import { allowedInProject } from '../../base/access/visible-store.ts'
import { chunked } from '../../base/kit/chunked.ts'
import { MAX_INTEGER } from '../../base/kit/common-fields.ts'
import { type Listing, rowsOfEach } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Actor } from '../../base/model/user.ts'
import type { JobOfPipeline, Pipeline } from './pipeline.ts'
import { pipelineOf } from './pipeline-row.ts'
import { pipelineListing, withPath } from './pipeline-store.ts'

// Upstream and downstream pipelines. Only the record of the downstream pipeline says which pipeline started it.
// Pipelines that the actor may not see are left out.

/**
 * Returns the pipeline that each bridge started. If several records name the bridge, a pipeline of the same project
 * comes before others, and the one recorded first before later ones.
 */
export async function downstreamOfEach(
  context: ReadContext,
  actor: Actor,
  bridges: readonly Pick<JobOfPipeline, 'id' | 'pipeline'>[],
): Promise<(Pipeline | undefined)[]> {
  const queries = bridges.map(({ id, pipeline }) =>
    downstreams(context, actor, pipeline)
      .where('upstream_job_id', '=', id)
      .orderBy((eb) => eb.case().when('pipelines.project_id', '=', pipeline.projectId).then(0).else(1).end())
      .orderBy('pipelines.id')
      .limit(1),
  )
  const lists = await rowsOfEach(context.db, queries)
  return lists.map(([row]) => row && pipelineOf(row))
}

/** Lists the pipelines that name each pipeline as their upstream in their records, newest first. */
export const downstreamListing = (
  context: ReadContext,
  actor: Actor,
  pipelines: readonly Pipeline[],
): Listing<Pipeline> =>
  pipelineListing(
    context,
    pipelines.map((pipeline) => downstreams(context, actor, pipeline)),
  )

/**
 * Returns the upstream pipeline that the record of each pipeline names. If the record also names another project, the
 * upstream pipeline belongs to that project, otherwise to the project of the pipeline itself.
 */
export async function upstreamOfEach(
  context: ReadContext,
  actor: Actor,
  pipelines: readonly Pipeline[],
): Promise<(Pipeline | undefined)[]> {
  const named = pipelines.flatMap(({ upstream, projectId }, index) => {
    if (upstream === undefined || (upstream.isOtherProject && upstream.projectPath === undefined)) return []
    const { pipelineId, isOtherProject, projectPath } = upstream
    const ofId = readable(context, actor).where('pipelines.pipeline_id', '=', pipelineId)
    const query = isOtherProject
      ? ofId.where('pipelines.project_id', '!=', projectId).where('projects.full_path', '=', projectPath!)
      : ofId.where('pipelines.project_id', '=', projectId)
    return [{ index, query: query.limit(1) }]
  })
  if (named.length === 0) return pipelines.map(() => undefined)
  const lists = await rowsOfEach(
    context.db,
    named.map(({ query }) => query),
  )
  const found = new Map(lists.map(([row], place) => [named[place]!.index, row && pipelineOf(row)]))
  return pipelines.map((_, index) => found.get(index))
}

/** Returns the pipeline with this Global ID number, if the actor may see it. */
export async function findReadablePipeline(
  context: ReadContext,
  actor: Actor,
  globalNumber: number,
): Promise<Pipeline | undefined> {
  const row = await readable(context, actor)
    .innerJoin('pipeline_numbers', (join) =>
      join
        .onRef('pipeline_numbers.project_id', '=', 'pipelines.project_id')
        .onRef('pipeline_numbers.own_id', '=', 'pipelines.pipeline_id'),
    )
    .where('pipeline_numbers.number', '=', globalNumber)
    .executeTakeFirst()
  return row && pipelineOf(row)
}

/** Returns the given pipelines that the actor may see, by key. */
export async function readablePipelinesByKey(
  context: ReadContext,
  actor: Actor,
  keys: readonly number[],
): Promise<ReadonlyMap<number, Pipeline>> {
  const found = new Map<number, Pipeline>()
  // PostgreSQL fails when an `integer` column is compared with a higher value.
  for (const some of chunked([...new Set(keys)].filter((key) => key <= MAX_INTEGER))) {
    const rows = await readable(context, actor).where('pipelines.id', 'in', some).execute()
    for (const row of rows) found.set(row.id, pipelineOf(row))
  }
  return found
}

const readable = (context: ReadContext, actor: Actor) =>
  withPath(context).where(allowedInProject(context, actor, 'read_pipeline'))

const downstreams = (context: ReadContext, actor: Actor, pipeline: Pipeline) =>
  readable(context, actor)
    .where('upstream_pipeline_id', '=', pipeline.id)
    .where((eb) =>
      eb.or([
        eb.and([eb('pipelines.project_id', '=', pipeline.projectId), eb('upstream_project_path', 'is', null)]),
        eb.and([
          eb('pipelines.project_id', '!=', pipeline.projectId),
          eb('upstream_project_path', '=', pipeline.projectPath),
        ]),
      ]),
    )
