import { parseLossless, readPipelineHook } from '@penstock/forges'
import { recordInput } from '@penstock/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { parseInput } from '../../base/kit/parse-input.ts'
import { asOf, MAX_JOBS, toPipelineDraft } from './pipeline-record.ts'
import { pipelineFor, preparedRecordInput } from './prepared-record.ts'

const run = { id: 31, status: 'success' }
const build = { id: 380, status: 'success' }
const ownProject = { id: 1, pathWithNamespace: 'ops/tools', webUrl: 'https://svc.example.test/ops/tools' }
const own = { ...ownProject, path: ownProject.pathWithNamespace }

function read(record: object) {
  const input = recordInput({ project: 1, pipelineId: 31, objectAttributes: run, ...record })
  const { upstream } = pipelineFor(parseInput(preparedRecordInput, input), own).head
  return { ...toPipelineDraft(readPipelineHook(parseLossless(input.payload))), upstream }
}

function firstProblem(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    const { failure } = error as DomainError
    return failure.code === 'parameters' && failure.problems[0]?.path
  }
  return 'accepted'
}

describe('a record is rejected, naming the field,', () => {
  test.each<[string, object, (string | number)[]]>([
    ['no attributes', { objectAttributes: undefined }, ['objectAttributes']],
    ['attributes that are not an object', { objectAttributes: [] }, ['objectAttributes']],
    ['no id', { objectAttributes: { status: 'success' } }, ['objectAttributes', 'id']],
    ['the id of another pipeline', { objectAttributes: { ...run, id: 32 } }, ['objectAttributes', 'id']],
    ['id 0', { pipelineId: 0, objectAttributes: { ...run, id: 0 } }, ['pipelineId']],
    ['an id above 2^53', { pipelineId: 2 ** 53, objectAttributes: { ...run, id: 2 ** 53 } }, ['pipelineId']],
    ['an id with a fraction', { objectAttributes: { ...run, id: 31.5 } }, ['objectAttributes', 'id']],
    ['no status', { objectAttributes: { id: 31 } }, ['objectAttributes', 'status']],
    ['a blank status', { objectAttributes: { ...run, status: ' \0' } }, ['objectAttributes', 'status']],
    ['a status that is a number', { objectAttributes: { ...run, status: 7 } }, ['objectAttributes', 'status']],
    ['a job hook', { objectKind: 'build' }, ['objectKind']],
    ['a job without id', { builds: [build, { status: 'success' }] }, ['builds', 1, 'id']],
    ['a job without status', { builds: [{ id: 380 }] }, ['builds', 0, 'status']],
    ['a job that is null', { builds: [null] }, ['builds', 0]],
    ['a bridge with id 0', { bridges: [{ ...build, id: 0 }] }, ['bridges', 0, 'id']],
    ['builds that are not a list', { builds: { 0: build } }, ['builds']],
    ['bridges that are not a list', { bridges: 'x' }, ['bridges']],
    ['too many jobs', { builds: Array(MAX_JOBS).fill(build), bridges: [build] }, ['builds']],
  ])('if it has %s', (_, record, path) => {
    expect(firstProblem(() => read(record))).toEqual(path)
  })
})

test.each([
  ['failure', 'failed'],
  ['CANCELLED', 'canceled'],
  [' Success ', 'success'],
  ['waiting_for_callback', 'waiting_for_callback'],
  ['Melting', 'Melting'],
])('the status %j is stored as %s', (status, expected) => {
  expect(read({ objectAttributes: { ...run, status } }).status).toBe(expected)
})

test.each([
  ['2026-02-03 04:05:06 UTC', Date.UTC(2026, 1, 3, 4, 5, 6)],
  ['2026-02-02 21:05:06 -0700', Date.UTC(2026, 1, 3, 4, 5, 6)],
  ['2026-02-03T04:05:06.789Z', Date.UTC(2026, 1, 3, 4, 5, 6, 789)],
  ['2026-02-03 04:05:06', Date.UTC(2026, 1, 3, 4, 5, 6)],
  ['0001-01-01T00:00:00Z', undefined],
  ['2026-02-30 04:05:06 UTC', undefined],
  ['null', undefined],
  ['2026-02-03', undefined],
  ['2026-02-03T04:05Z', Date.UTC(2026, 1, 3, 4, 5)],
  ['2026-02-03t04:05:06z', Date.UTC(2026, 1, 3, 4, 5, 6)],
  ['2026-02-03 05:05:06+01', Date.UTC(2026, 1, 3, 4, 5, 6)],
  ['2026-02-03 04:05:06 utc', undefined],
  ['2263-01-01T00:00:00Z', undefined],
  ['2026-02-03T24:00:00Z', undefined],
])('the time %j is read as %j', (finishedAt, expected) => {
  expect(read({ objectAttributes: { ...run, finishedAt } }).finishedAtMs).toBe(expected)
})

describe('the last update of a pipeline', () => {
  const updatedAt = '2026-02-03T04:05:06Z'
  const ended = { ...build, finishedAt: '2026-02-03T04:00:00Z' }
  test.each<[string, object, number | undefined]>([
    ['is the end of a complete pipeline', {}, Date.UTC(2026, 1, 3, 4, 5, 6)],
    ['does not replace an end', { finishedAt: '2026-02-03T04:00:00Z' }, Date.UTC(2026, 1, 3, 4)],
    ['is no end beside a duration', { duration: 7 }, undefined],
    ['is no end of a running pipeline', { status: 'running' }, undefined],
    ['is no end of a skipped pipeline', { status: 'skipped' }, undefined],
  ])('%s', (_, more, expected) => {
    const draft = read({ objectAttributes: { ...run, updatedAt, ...more } })
    expect([draft.finishedAtMs, draft.passedOn?.updatedAtMs]).toEqual([expected, Date.UTC(2026, 1, 3, 4, 5, 6)])
  })

  test('is no end beside a build that has ended', () => {
    expect(read({ objectAttributes: { ...run, updatedAt }, builds: [ended] }).finishedAtMs).toBeUndefined()
    expect(read({ objectAttributes: { ...run, updatedAt }, bridges: [ended] }).finishedAtMs).toBeDefined()
  })
})

test.each<[string, object, unknown]>([
  ['a bundle', { pipeline: {}, builds: [] }, ['objectKind']],
  ['a job hook', { build_id: 1, build_status: null }, ['objectKind']],
  ['a pipeline that is no object', { pipeline: 7, builds: [] }, 'accepted'],
  ['a pipeline without jobs', { pipeline: {} }, 'accepted'],
  ['an id besides', { pipeline: {}, builds: [], id: 1 }, 'accepted'],
])('a body without object_kind that is also %s', (_, body, expected) => {
  expect(firstProblem(() => read(body))).toEqual(expected)
  expect(firstProblem(() => read({ ...body, objectKind: 'pipeline' }))).toBe('accepted')
})

test('a pipeline that names itself as its source is its own root', () => {
  const sourcePipeline = { pipelineId: 31 }
  expect(read({ sourcePipeline }).passedOn?.rootPipelineId).toBe(31)
  const objectAttributes = { ...run, rootPipelineId: 7 }
  expect(read({ objectAttributes, sourcePipeline }).passedOn?.rootPipelineId).toBe(7)
})

test('unusable optional values are ignored', () => {
  const wrong = { iid: 'x', name: 7, tag: 'yes', createdAt: 5, duration: '63', queuedDuration: -1, sha: null, ref: ' ' }
  const bare = read({})
  expect(read({ objectAttributes: { ...run, ...wrong }, user: 'ada', commit: [], builds: null })).toEqual(bare)
  expect(read({ objectKind: ' ', commit: { id: '' } })).toEqual(bare)
  const empty = { runner: { id: 0, description: '' }, artifactsFile: { filename: null, size: null }, user: {} }
  expect(read({ builds: [{ ...build, ...empty }] }).jobs[0]).toMatchObject({
    runner: undefined,
    artifacts: undefined,
    user: undefined,
  })
})

test('texts are truncated, and characters that a database cannot store are replaced', () => {
  const { name, ref, commit } = read({
    objectAttributes: { ...run, name: 'a\0b\ud83d', ref: 'x'.repeat(5_000) },
    commit: { message: `${'y'.repeat(9_999)}\u{1f600}` },
  })
  expect([name, ref?.length]).toEqual(['a\ufffdb\ufffd', 1_024])
  expect(commit?.message).toBe(`${'y'.repeat(9_999)}\ufffd`)
})

test('edge 39: of two jobs with the same id a bridge is used, then the one with the later end', () => {
  const finishedAt = '2026-02-03 04:05:06 UTC'
  const builds = [{ ...build, status: 'failed', finishedAt }, build, { id: 381, status: 'success' }]
  const { jobs } = read({ builds, bridges: [{ id: 381, status: 'failed' }] })
  expect(jobs.map(({ id, isBridge, status }) => [id, isBridge, status])).toEqual([
    [380, false, 'failed'],
    [381, true, 'failed'],
  ])
})

test('edge 40: the attempt with the highest id is the current one', () => {
  const attempt = (id: number, name?: string) => ({ id, status: 'success', stage: 'test', name })
  const { jobs } = read({
    builds: [attempt(3, 'unit'), attempt(1, 'unit'), attempt(2, 'lint'), attempt(4), attempt(5)],
  })
  expect(jobs.filter(({ isRetried }) => isRetried).map(({ id }) => id)).toEqual([1])
})

test('a failure reason is ignored unless the job failed', () => {
  const { jobs } = read({ builds: [{ ...build, failureReason: 'unknown_failure' }] })
  expect(jobs[0]!.failureReason).toBeUndefined()
})

describe('the upstream pipeline is read from', () => {
  test.each<[string, object, object | undefined]>([
    ['its own project', { project: ownProject }, { pipelineId: 30, jobId: 300, isOtherProject: false }],
    ['its own project by URL', { project: { webUrl: own.webUrl } }, { isOtherProject: false }],
    ['its own project by the id in the record', { project: { id: 9 } }, { isOtherProject: false }],
    ['no named project', {}, { isOtherProject: false }],
    [
      'another project',
      { project: { id: 2, pathWithNamespace: 'ops/far' } },
      { isOtherProject: true, projectPath: 'ops/far' },
    ],
    ['a bridge', { project: ownProject, bridgeId: 301 }, { jobId: 301 }],
    ['itself', { project: ownProject, pipelineId: 31 }, undefined],
    ['an unknown pipeline', { pipelineId: undefined }, undefined],
  ])('%s', (_, more, expected) => {
    const { upstream } = read({ hookProject: { id: 9 }, sourcePipeline: { pipelineId: 30, jobId: 300, ...more } })
    if (expected === undefined) expect(upstream).toBeUndefined()
    else expect(upstream).toMatchObject(expected)
  })
})

test('asOf returns the end of a complete pipeline, else the latest time in the record', () => {
  const times = { createdAt: '2026-02-03T04:00:00Z', finishedAt: '2026-02-03T04:10:00Z' }
  const builds = [{ ...build, startedAt: '2026-02-03T04:20:00Z' }]
  const of = (status: string) => asOf(read({ objectAttributes: { ...run, ...times, status }, builds }))
  expect([of('success'), of('running')]).toEqual([Date.UTC(2026, 1, 3, 4, 10), Date.UTC(2026, 1, 3, 4, 20)])
  expect(asOf(read({}))).toBeUndefined()
})

test('the order of jobs in a record makes no difference', () => {
  const builds = fc.uniqueArray(
    fc.record({ id: fc.integer({ min: 1, max: 99 }), status: fc.constant('success'), name: fc.constantFrom('a', 'b') }),
    { selector: ({ id }) => id, maxLength: 8 },
  )
  fc.assert(
    fc.property(builds, (all) => {
      expect(read({ builds: all.toReversed() })).toEqual(read({ builds: all }))
    }),
  )
})

test.each([
  ['no name and size 0', { filename: null, size: 0 }, undefined],
  ['no name and no size', { filename: null, size: null }, undefined],
  ['no name and a size', { filename: null, size: 2048 }, undefined],
  ['a name and size 0', { filename: 'a.zip', size: 0 }, { filename: 'a.zip', size: 0 }],
])('reads artifacts with %s', (_, artifactsFile, artifacts) => {
  expect(read({ builds: [{ ...build, artifactsFile }] }).jobs[0]?.artifacts).toEqual(artifacts)
})
