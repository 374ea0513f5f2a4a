import { isObject, type JsonObject } from '../body/fields.ts'
import { toId } from '../body/shape.ts'

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

/** The maximum number of generations between a pipeline and its root. */
const MAX_DEPTH = 10

/**
 * Stores which pipeline started which. In REST, the bridges of an upstream pipeline name the downstream pipelines. The
 * record of a downstream pipeline, however, has to name the upstream one.
 */
export class Lineage {
  readonly #upstream = new Map<string, Upstream>()

  learn(pipelineId: string, project: JsonObject, downstream: readonly Downstream[]): void {
    for (const { id, projectId, bridgeId } of downstream) {
      const isOtherProject = projectId !== String(toId(project.id))
      this.#upstream.set(id, { pipelineId, bridgeId, project, isOtherProject })
    }
  }

  /** Returns the fields of a REST bundle that describe the upstream pipeline. */
  withUpstream(pipeline: JsonObject): { readonly pipeline: JsonObject; readonly source_pipeline?: JsonObject } {
    const id = String(toId(pipeline.id))
    const upstream = this.#upstream.get(id)
    if (upstream === undefined) return { pipeline }
    const { id: projectId, path_with_namespace, web_url } = upstream.project
    const source = {
      project: { id: projectId, path_with_namespace, web_url },
      pipeline_id: BigInt(upstream.pipelineId),
      bridge_id: BigInt(upstream.bridgeId),
    }
    const rootId = this.#findRoot(id)
    const child = upstream.isOtherProject || rootId === undefined ? pipeline : { ...pipeline, root_pipeline_id: rootId }
    return { pipeline: child, source_pipeline: source }
  }

  /**
   * Returns the root of a pipeline within its own project: parents in other projects are not followed. `undefined` if
   * the parents form a cycle or are too many.
   */
  #findRoot(id: string): bigint | undefined {
    let rootId = id
    for (let depth = 0; depth <= MAX_DEPTH; depth++) {
      const upstream = this.#upstream.get(rootId)
      if (upstream === undefined || upstream.isOtherProject) return BigInt(rootId)
      rootId = upstream.pipelineId
    }
    return undefined
  }
}

/** Returns the downstream pipelines in the order of their bridges. */
export function listDownstream(bridges: readonly { readonly id: bigint; readonly value: JsonObject }[]): Downstream[] {
  return bridges.flatMap(({ id: bridgeId, value: { downstream_pipeline: started } }) => {
    if (!isObject(started)) return []
    const id = toId(started.id)
    const projectId = toId(started.project_id)
    if (id === undefined || projectId === undefined) return []
    return [{ id: String(id), projectId: String(projectId), bridgeId: String(bridgeId) }]
  })
}
