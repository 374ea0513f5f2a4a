import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readInput } from '../read-input.ts'
import type { PipelineRecord } from './pipeline-record.ts'
import { findRoot, rootKey, withRoot } from './roots.ts'

const instance = 'ci.example.com'

function run(
  id: number,
  parentId?: number,
  fields: { root?: number; otherProject?: boolean; source?: string } = {},
): PipelineRecord {
  const body = {
    object_attributes: { id, status: 'success', root_pipeline_id: fields.root, source: fields.source },
    project: { id: 42 },
    source_pipeline: parentId && { pipeline_id: parentId, job_id: 300, project: { id: fields.otherProject ? 7 : 42 } },
  }
  const input = readInput(body, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return input.record
}

const rootsOf = (...pairs: [number, number][]) =>
  new Map(pairs.map(([id, root]) => [rootKey(instance, BigInt(id)), BigInt(root)]))

describe('the root of a run', () => {
  test.each([
    ['a run without upstream is its own root', run(1), rootsOf(), 1n, 'self'],
    [
      'edge 46: a run started by another project is its own root',
      run(3, 2, { otherProject: true }),
      rootsOf(),
      3n,
      'self',
    ],
    ['edge 47: a run that has a parent in its own tree is a cycle', run(3, 2, { root: 3 }), rootsOf(), 3n, 'cycle'],
    ['a child without its parent', run(3, undefined, { source: 'parent_pipeline' }), rootsOf(), 3n, 'unknown'],
    [
      'a child in the map as its own root',
      run(3, undefined, { source: 'parent_pipeline' }),
      rootsOf([3, 3]),
      3n,
      'unknown',
    ],
    ['a child in the map', run(3, undefined, { source: 'parent_pipeline' }), rootsOf([3, 1], [1, 1]), 1n, 'map'],
    ['an explicit root takes precedence', run(3, 2, { root: 1 }), rootsOf([2, 9], [3, 9]), 1n, 'source'],
    ['the parent is a known root', run(2, 1), rootsOf([1, 1]), 1n, 'map'],
    ['edge 44: the root of the parent is known', run(3, 2), rootsOf([2, 1]), 1n, 'map'],
    ['an earlier hook of the run named the root', run(3), rootsOf([3, 1]), 1n, 'map'],
    ['an assumed root is followed to its own root', run(3, 2), rootsOf([3, 2], [2, 1], [1, 1]), 1n, 'map'],
    ['edge 45: the parent is not in the map', run(3, 2), rootsOf(), 2n, 'parent'],
    ['edge 45: only the assumed root is in the map', run(3, 2), rootsOf([3, 2]), 2n, 'parent'],
    ['the run was in the map as a root before its upstream was known', run(2, 1), rootsOf([2, 2], [1, 1]), 1n, 'map'],
    ['edge 47: two pipelines, each the source of the other', run(2, 1), rootsOf([1, 2]), 2n, 'cycle'],
    ['edge 47: a cycle further up', run(4, 3), rootsOf([3, 2], [2, 1], [1, 3]), 4n, 'cycle'],
  ])('%s', (_, record, roots, id, from) => {
    expect(findRoot(record, roots, instance)).toEqual({ id, from })
  })

  test('edge 46: the root of an upstream in another project is kept beside its own', () => {
    const record = run(3, 2, { otherProject: true })
    expect(findRoot(record, rootsOf([2, 1]), instance)).toEqual({ id: 3n, from: 'self', upstreamId: 1n })
  })

  test('ids of another instance do not count', () => {
    expect(findRoot(run(3, 2), rootsOf([2, 1]), 'other.example.com')).toEqual({ id: 2n, from: 'parent' })
  })

  test('the root is also learned from a job event', () => {
    const hook = {
      object_kind: 'build',
      build_id: 5,
      build_status: 'running',
      pipeline_id: 3,
      source_pipeline: { pipeline_id: 2 },
    }
    const input = readInput(hook, { receivedAtNs: undefined })
    if (input.kind !== 'job') throw new Error('no job')
    expect(findRoot(input.event, rootsOf([2, 1]), instance)).toEqual({ id: 1n, from: 'map' })
  })
})

describe('withRoot', () => {
  test('sets the root', () => {
    expect(withRoot(run(3, 2), { id: 1n, from: 'map' })).toMatchObject({
      rootPipelineId: 1n,
      upstream: { pipelineId: 2n },
    })
    expect(withRoot(run(3), { id: 3n, from: 'self' }).rootPipelineId).toBe(3n)
  })
  test('edge 45: does not set an assumed root', () => {
    expect(withRoot(run(3, 2), { id: 2n, from: 'parent' })).toMatchObject({
      rootPipelineId: undefined,
      upstream: { pipelineId: 2n },
    })
  })
  test('edge 47: a member of a cycle becomes a root', () => {
    expect(withRoot(run(3, 2), { id: 3n, from: 'cycle' })).toMatchObject({ rootPipelineId: 3n, upstream: undefined })
  })
})

test('edges 44, 45: if parents arrive first, every run finds the root, in any order of the children', () => {
  const trees = fc.array(fc.nat(), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(trees, (picks) => {
      const roots = rootsOf([1, 1])
      for (const [index, pick] of picks.entries()) {
        const id = index + 2
        const root = findRoot(run(id, 1 + (pick % (id - 1))), roots, instance)
        expect(root).toEqual({ id: 1n, from: 'map' })
        roots.set(rootKey(instance, BigInt(id)), 1n)
      }
    }),
  )
})

test('edge 47: the search ends for every map', () => {
  const edges = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 })))
  fc.assert(
    fc.property(edges, fc.integer({ min: 1, max: 8 }), (pairs, parent) => {
      expect(findRoot(run(9, parent), rootsOf(...pairs), instance).id).toBeGreaterThan(0n)
    }),
  )
})
