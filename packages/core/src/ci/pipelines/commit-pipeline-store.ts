import { allowedInProject } from '../../base/access/visible-store.ts'
import type { ActorContext } from '../../base/operations/context.ts'
import type { Pipeline } from './pipeline.ts'
import { newestOfEach, pipelineQuery } from './pipeline-store.ts'

/** A commit of a project. */
interface CommitInProjectId {
  readonly projectId: number
  /** `undefined` if the commit is unknown. No pipeline is found then. */
  readonly sha: string | undefined
}

/**
 * Returns for each commit the pipeline with the highest id. Child pipelines do not count. Returns `undefined` if there
 * is none, or the actor may not see the pipelines of the project.
 */
export async function lastPipelineOfEach(
  context: ActorContext,
  commits: readonly CommitInProjectId[],
): Promise<(Pipeline | undefined)[]> {
  const known = commits.flatMap(({ projectId, sha }, index) => (sha === undefined ? [] : [{ projectId, sha, index }]))
  if (known.length === 0) return commits.map(() => undefined)
  const readable = await readableProjectIds(context, new Set(known.map(({ projectId }) => projectId)))
  const wanted = known.filter(({ projectId }) => readable.has(projectId))
  const queries = wanted.map(({ projectId, sha }) => pipelineQuery(context, projectId, { sha }))
  const found = queries.length === 0 ? [] : await newestOfEach(context, queries)
  const byPlace = new Map(wanted.map(({ index }, place) => [index, found[place]]))
  return commits.map((_, index) => byPlace.get(index))
}

async function readableProjectIds(context: ActorContext, ids: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const rows = await context.db
    .selectFrom('projects')
    .select('id')
    .where('id', 'in', [...ids])
    .where(allowedInProject(context, context.actor, 'read_pipeline'))
    .execute()
  return new Set(rows.map(({ id }) => id))
}
