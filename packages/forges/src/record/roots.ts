import type { JobEvent } from './job-event.ts'
import type { PipelineRecord } from './pipeline-record.ts'
import { type RunId, runIdText } from './run-id.ts'

/**
 * The root of a run's pipeline tree, and where it comes from:
 * - `source`: the payload names it
 * - `map`: it was found in the root map
 * - `self`: the run is not a child
 * - `parent`: the parent's root is unknown, so the parent is used
 * - `unknown`: the run is a child, but nothing names its parent, so the run itself is used
 * - `cycle`: the parents form a cycle, so the run is counted as a root
 */
export interface Root {
  readonly id: RunId
  readonly from: 'source' | 'map' | 'self' | 'parent' | 'unknown' | 'cycle'
  /** The root of an upstream pipeline of another project, if the map contains it. */
  readonly upstreamId?: RunId
}

/** Returns the key of a pipeline in the root map. Ids are unique only within `instance`, which trace ids are hashed with. */
export function rootKey(instance: string, pipelineId: RunId): string {
  return `${instance} ${runIdText(pipelineId)}`
}

/**
 * Returns the root of a run. `roots` maps the `rootKey` of a pipeline to its root. The caller stores the map and adds
 * every run: `roots.set(rootKey(instance, id), findRoot(run, roots, instance).id)`.
 *
 * A pipeline started from another project is the root of its own tree.
 */
export function findRoot(run: PipelineRecord | JobEvent, roots: ReadonlyMap<string, RunId>, instance: string): Root {
  const ownId = 'pipelineId' in run ? run.pipelineId : run.id
  if (run.upstream?.otherProject) {
    const upstreamId = roots.get(rootKey(instance, run.upstream.pipelineId))
    const own = { id: run.rootPipelineId ?? ownId, from: run.rootPipelineId === undefined ? 'self' : 'source' } as const
    return upstreamId === undefined ? own : { ...own, upstreamId }
  }
  // A pipeline that is its own root cannot have a parent, so its parents form a cycle.
  if (run.upstream !== undefined && run.rootPipelineId === ownId) return { id: ownId, from: 'cycle' }
  if (run.rootPipelineId !== undefined) return { id: run.rootPipelineId, from: 'source' }

  const parentId = run.upstream?.pipelineId
  const known = roots.get(rootKey(instance, ownId))
  let id = known === undefined || known === ownId ? parentId : known
  if (id === undefined) return { id: ownId, from: isChild(run) ? 'unknown' : 'self' }
  const seen = new Set([ownId])
  while (!seen.has(id)) {
    seen.add(id)
    const next = roots.get(rootKey(instance, id))
    if (next === id) return { id, from: 'map' }
    if (next === undefined) return { id, from: id === parentId ? 'parent' : 'map' }
    id = next
  }
  return { id: ownId, from: 'cycle' }
}

/** Returns whether a pipeline of the same project has started the run. */
export const isChild = (run: PipelineRecord | JobEvent): boolean => 'source' in run && run.source === 'parent_pipeline'

/**
 * Returns the record with the root from `findRoot`. A root that comes from `parent` or is `unknown` is not set in the record:
 * without a root, the converter uses the parent, or the run itself, and marks the root as unresolved. A member of a cycle loses its upstream and
 * becomes a root.
 */
export function withRoot(record: PipelineRecord, root: Root): PipelineRecord {
  switch (root.from) {
    case 'parent':
    case 'unknown':
      return record
    case 'cycle':
      return { ...record, rootPipelineId: root.id, upstream: undefined }
    default:
      return { ...withUpstreamRoot(record, root.upstreamId), rootPipelineId: root.id }
  }
}

function withUpstreamRoot(record: PipelineRecord, rootPipelineId: RunId | undefined): PipelineRecord {
  const { upstream } = record
  if (upstream === undefined || rootPipelineId === undefined) return record
  return { ...record, upstream: { ...upstream, rootPipelineId } }
}
