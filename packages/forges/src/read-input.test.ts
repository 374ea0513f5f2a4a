import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nestingLimit, readInput } from './read-input.ts'
import { RecordError } from './record/record-error.ts'
import { warningLimit } from './record/warnings.ts'

const intake = { receivedAtNs: undefined }
const run = { id: 31, status: 'success' }

describe('the kind of a body', () => {
  test.each([
    ['a pipeline hook', { object_kind: 'pipeline', object_attributes: run }, 'pipeline'],
    ['a hook without object_kind, as relays send it', { object_attributes: run }, 'pipeline'],
    ['a hook with a blank object_kind', { object_kind: '', object_attributes: run }, 'pipeline'],
    ['a job hook', { object_kind: 'build', build_id: 380, build_status: 'success', pipeline_id: 31 }, 'job'],
    ['a REST bundle', { project: {}, pipeline: run, jobs: [], bridges: [] }, 'pipeline'],
    ['a REST bundle without a project', { pipeline: run, jobs: [] }, 'pipeline'],
    ['a pipeline with its jobs inside', { ...run, jobs: [] }, 'pipeline'],
  ])('%s', (_, body, kind) => expect(readInput(body, intake).kind).toBe(kind))

  test.each<[unknown, string, string]>([
    [null, '', 'got null'],
    [31, '', 'got 31'],
    ['canary', '', 'got a text'],
    [[{ object_attributes: run }], '', 'got a list'],
    [{}, '', 'must be a pipeline hook, a job hook or { project, pipeline, jobs, bridges }'],
    [{ object_attributes: { id: 31 } }, '', 'must be a pipeline hook'],
    [{ pipeline: null, jobs: [] }, '', 'must be a pipeline hook'],
    [{ object_kind: 'push', ref: 'main' }, 'object_kind', 'must be pipeline or build, got "push"'],
    [{ object_kind: 'issue', object_attributes: run }, 'object_kind', 'must be pipeline or build, got "issue"'],
    [{ object_kind: 'pipeline' }, 'object_attributes', 'must be an object, got nothing'],
    [{ object_kind: 'pipeline', object_attributes: [] }, 'object_attributes', 'must be an object, got a list'],
  ])('refused: %j', (body, path, reason) => {
    expect(failureOf(body)).toMatchObject({ path, reason: expect.stringContaining(reason) })
    expect(failureOf(body).message).not.toContain('canary')
  })
})

describe('required fields', () => {
  test.each<[object, string]>([
    [{ object_attributes: { id: 0, status: 'success' } }, 'object_attributes.id'],
    [{ object_attributes: { id: '0x1f', status: 'success' } }, 'object_attributes.id'],
    [{ object_attributes: { id: 31, status: null } }, 'object_attributes.status'],
    [{ object_attributes: run, builds: [{ id: 380, status: 'success' }, { status: 'success' }] }, 'builds[1].id'],
    [{ object_attributes: run, builds: [{ id: -380, status: 'success' }] }, 'builds[0].id'],
    [{ object_attributes: run, builds: [{ id: 380 }] }, 'builds[0].status'],
    [{ object_attributes: run, builds: [null] }, 'builds[0]'],
    [{ object_attributes: run, bridges: [{ id: 0, status: 'success' }] }, 'bridges[0].id'],
    [{ pipeline: { id: 0, status: 'success' }, jobs: [] }, 'pipeline.id'],
    [{ pipeline: { id: 31 }, jobs: [] }, 'pipeline.status'],
    [{ pipeline: run, jobs: [{ id: 'x', status: 'success' }] }, 'jobs[0].id'],
  ])('edge 49: %j', (body, path) => expect(failureOf(body).path).toBe(path))
})

test('optional fields of a wrong type are absent, each with a warning', () => {
  const wrong = { iid: 'x', name: 7, tag: 'yes', stages: 'test', created_at: 5, duration: '63', protected_ref: 1 }
  const body = { object_attributes: { ...run, ...wrong }, user: 'ada', project: [], builds: {}, merge_request: 7 }
  const { warnings } = readInput(body, intake)
  expect(warnings.items.map((warning) => warning.path).sort()).toEqual(
    [
      ...Object.keys(wrong).map((key) => `object_attributes.${key}`),
      'builds',
      'merge_request',
      'project',
      'user',
    ].sort(),
  )
})

test('warnings of a large body are bounded', () => {
  const builds = Array.from({ length: 1000 }, (_, index) => ({ id: index + 1, status: 'success', name: 7 }))
  const { warnings } = readInput({ object_attributes: run, builds }, intake)
  expect(warnings.items).toHaveLength(warningLimit)
  expect(warnings.total).toBe(1000)
})

describe('edge 59: nesting', () => {
  const nested = (levels: number) => JSON.parse(`${'{"x":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`)

  test('a hundred levels are ignored', () => {
    expect(readInput({ object_attributes: run, extra: nested(100) }, intake).warnings.total).toBe(0)
  })

  test('levels above the limit are ignored with a warning, at any depth', () => {
    const shallow = { object_attributes: run }
    for (const levels of [nestingLimit, 100_000]) {
      const input = readInput({ ...shallow, extra: nested(levels) }, intake)
      expect(input.warnings.items).toEqual([{ path: '', reason: 'has more than 512 levels of nesting' }])
      expect(input).toMatchObject({ record: { id: 31n } })
    }
    expect(readInput({ ...shallow, extra: nested(nestingLimit - 2) }, intake).warnings.total).toBe(0)
  })
})

test('edge 58: variables, mail addresses and avatars are not in the record', () => {
  const canary = 'canary-4f1d'
  const user = { id: 1, username: 'ada', email: canary, avatar_url: canary, name: canary }
  const body = {
    object_kind: 'pipeline',
    object_attributes: {
      ...run,
      variables: [{ key: canary, value: canary }],
      extra: canary,
      iid: [canary],
      tag: canary,
    },
    user,
    commit: { id: 'abc', author: { email: canary } },
    builds: [{ id: 380, status: 'success', user, runner: canary, duration: canary }],
  }
  const shown = JSON.stringify(readInput(body, intake), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(shown).not.toContain(canary)
  for (const broken of [
    { ...run, id: [canary] },
    { ...run, status: { canary } },
  ]) {
    expect(failureOf({ ...body, object_attributes: broken }).message).not.toContain(canary)
  }
})

const anything = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  fc.constantFrom<unknown>(0, -1, '', 'success', '2026-01-05 10:00:00 UTC', 9_007_199_254_740_993n, Number.NaN, [], {}),
)
const fieldNames = [
  'id',
  'status',
  'name',
  'stage',
  'created_at',
  'finished_at',
  'duration',
  'user',
  'runner',
  'artifacts',
]
const shape = (...names: string[]) =>
  fc.record(Object.fromEntries([...names, ...fieldNames].map((name) => [name, anything])), { requiredKeys: [] })
const job = fc.oneof({ weight: 9, arbitrary: shape('retries_count', 'bridge', 'environment') }, anything)
const jobs = fc.oneof(fc.array(job, { maxLength: 3 }), anything)
const bodies = fc.oneof(
  anything,
  fc.record(
    {
      object_kind: fc.constantFrom<unknown>('pipeline', 'build', undefined, null, 'push', 7),
      object_attributes: fc.oneof(shape('iid', 'ref', 'stages', 'before_sha', 'detailed_status', 'url'), anything),
      pipeline: fc.oneof(shape('web_url', 'sha', 'yaml_errors', 'detailed_status'), anything),
      project: fc.oneof(shape('web_url', 'path_with_namespace'), anything),
      merge_request: fc.oneof(shape('iid', 'title', 'draft'), anything),
      source_pipeline: fc.oneof(shape('pipeline_id', 'job_id', 'project'), anything),
      commit: anything,
      builds: jobs,
      jobs,
      bridges: jobs,
      build_id: anything,
      build_status: anything,
      pipeline_id: anything,
    },
    { requiredKeys: [] },
  ),
)

test('every body is either read or refused with a RecordError', () => {
  fc.assert(
    fc.property(bodies, (body) => {
      try {
        const input = readInput(body, intake)
        expect(['pipeline', 'job']).toContain(input.kind)
      } catch (error) {
        expect(error).toBeInstanceOf(RecordError)
        expect((error as RecordError).path).toBeTypeOf('string')
        expect((error as RecordError).message).toContain((error as RecordError).reason)
      }
    }),
    { numRuns: 3000 },
  )
})

function failureOf(body: unknown): RecordError {
  try {
    readInput(body, intake)
  } catch (error) {
    return error as RecordError
  }
  throw new Error('was read')
}
