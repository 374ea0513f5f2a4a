import type { PipelineRecord } from '../record.ts'
import type { JobEvent } from './job-webhook.ts'

/**
 * The root of a run's pipeline tree, and who said so:
 * - `source`: the run itself names it; - `map`: earlier runs led to it; - `self`: the run is no child;
 * - `parent`: nobody knows the parent's own root, so the parent has to do;
 * - `cycle`: the way up came back to where it had been, so the run counts as a root.
 */
export interface Root {
  readonly id: bigint
  readonly from: 'source' | 'map' | 'self' | 'parent' | 'cycle'
  /** The root of an upstream pipeline of another project, when the map knows it. */
  readonly upstreamId?: bigint
}

/** Ids are unique within an instance only. `instance` is the one that trace ids are hashed with. */
export function rootKey(instance: string, pipelineId: bigint): string {
  return `${instance} ${pipelineId}`
}

/**
 * The root of a run. `roots` maps `rootKey` of a pipeline to the root learnt for it. The caller keeps the map, and adds
 * every run it sees: `roots.set(rootKey(instance, id), rootOf(run, roots, instance).id)`.
 *
 * A pipeline started from another project is the root of its own tree.
 *
 * @see spec/pipeline-telemetry.md 2.5, 7 (44, 45, 47)
 */
export function rootOf(run: PipelineRecord | JobEvent, roots: ReadonlyMap<string, bigint>, instance: string): Root {
  const ownId = 'pipelineId' in run ? run.pipelineId : run.id
  if (run.upstream?.otherProject) {
    const upstreamId = roots.get(rootKey(instance, run.upstream.pipelineId))
    const own = { id: run.rootPipelineId ?? ownId, from: run.rootPipelineId === undefined ? 'self' : 'source' } as const
    return upstreamId === undefined ? own : { ...own, upstreamId }
  }
  // The root of its own tree has no parent in it.
  if (run.upstream !== undefined && run.rootPipelineId === ownId) return { id: ownId, from: 'cycle' }
  if (run.rootPipelineId !== undefined) return { id: run.rootPipelineId, from: 'source' }

  const parentId = run.upstream?.pipelineId
  const learnt = roots.get(rootKey(instance, ownId))
  let id = learnt === undefined || learnt === ownId ? parentId : learnt
  if (id === undefined) return { id: ownId, from: 'self' }
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

/**
 * The record with a root that `rootOf` found. A guess is not written down: without a root the converter takes the
 * parent and marks the root as unresolved. A member of a cycle loses its upstream and becomes a root.
 */
export function withRoot(record: PipelineRecord, root: Root): PipelineRecord {
  switch (root.from) {
    case 'parent':
      return record
    case 'cycle':
      return { ...record, rootPipelineId: root.id, upstream: undefined }
    default:
      return { ...withUpstreamRoot(record, root.upstreamId), rootPipelineId: root.id }
  }
}

function withUpstreamRoot(record: PipelineRecord, rootPipelineId: bigint | undefined): PipelineRecord {
  const { upstream } = record
  if (upstream === undefined || rootPipelineId === undefined) return record
  return { ...record, upstream: { ...upstream, rootPipelineId } }
}
