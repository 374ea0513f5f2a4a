import { type Item, idOf, isObject, type JsonObject } from './forge.ts'

/** A pipeline that a bridge has started. Ids are decimal. */
export interface Downstream {
  readonly id: string
  readonly projectId: string
  readonly bridgeId: string
}

interface Upstream {
  readonly pipelineId: string
  readonly bridgeId: string
  readonly project: JsonObject
  readonly isOtherProject: boolean
}

/** Generations on the way up to the root. @see spec/pipeline-telemetry.md 2.5 */
const MAX_DEPTH = 10

/**
 * Who has started whom. REST tells it only from above, in the bridges of the upstream pipeline; the record wants it from below.
 *
 * @see spec/pipeline-telemetry.md 1.2, 2.5
 */
export class Lineage {
  readonly #upstream = new Map<string, Upstream>()

  learn(pipelineId: string, project: JsonObject, downstream: readonly Downstream[]): void {
    for (const { id, projectId, bridgeId } of downstream) {
      const isOtherProject = projectId !== String(idOf(project.id))
      this.#upstream.set(id, { pipelineId, bridgeId, project, isOtherProject })
    }
  }

  /** What a REST bundle says about where its pipeline comes from. */
  bundleOf(pipeline: JsonObject): { readonly pipeline: JsonObject; readonly source_pipeline?: JsonObject } {
    const id = String(idOf(pipeline.id))
    const upstream = this.#upstream.get(id)
    if (upstream === undefined) return { pipeline }
    const { id: projectId, path_with_namespace, web_url } = upstream.project
    const source = {
      project: { id: projectId, path_with_namespace, web_url },
      pipeline_id: BigInt(upstream.pipelineId),
      bridge_id: BigInt(upstream.bridgeId),
    }
    const rootId = this.#rootOf(id)
    const child = upstream.isOtherProject || rootId === undefined ? pipeline : { ...pipeline, root_pipeline_id: rootId }
    return { pipeline: child, source_pipeline: source }
  }

  /** Of its own tree, which ends where another project begins; undefined when the way does not end. */
  #rootOf(id: string): bigint | undefined {
    let rootId = id
    for (let depth = 0; depth <= MAX_DEPTH; depth++) {
      const upstream = this.#upstream.get(rootId)
      if (upstream === undefined || upstream.isOtherProject) return BigInt(rootId)
      rootId = upstream.pipelineId
    }
    return undefined
  }
}

/** In the order of their bridges. */
export function downstreamOf(bridges: readonly Item[]): Downstream[] {
  return bridges.flatMap(({ id: bridgeId, value: { downstream_pipeline: started } }) => {
    if (!isObject(started)) return []
    const id = idOf(started.id)
    const projectId = idOf(started.project_id)
    if (id === undefined || projectId === undefined) return []
    return [{ id: String(id), projectId: String(projectId), bridgeId: String(bridgeId) }]
  })
}
