import { parseLossless, RecordError, readInput } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { bodiesOf } from '../fixtures.ts'
import {
  attribute,
  convertEach,
  convertEachOfFixture,
  convertFixture,
  keysOf,
  type PipelineHook,
  refusedText,
  resourceOf,
  valuesOf,
} from './exported-run.ts'

const LINK_TYPE = 'svc.cicd.link.type'
const ROOT_RESOLVED = 'svc.cicd.root.resolved'

describe('hashed ids', () => {
  test('match the literal vectors of the specification', () => {
    const run = convertFixture('push-pipeline-five-jobs-three-stages', { stageSpans: true })
    expect(run.pipeline).toMatchObject({
      traceId: 'f09bd275a66f6824d2b176f2a52ef4b6',
      spanId: '57597f4a8354785e',
      parentSpanId: '',
      traceState: '',
      flags: 0x103,
    })
    expect(run.jobs.compile).toMatchObject({ spanId: '7844386fb3f17be8', parentSpanId: '612578157a89b8bf' })
  })

  test('jobs are children of the pipeline span in its trace, and logs refer to them with trace flags only', () => {
    const run = convertFixture('push-pipeline-five-jobs-three-stages')
    expect(run.jobs.unit).toMatchObject({
      traceId: 'f09bd275a66f6824d2b176f2a52ef4b6',
      spanId: '1510fa0b066b7919',
      parentSpanId: '57597f4a8354785e',
      flags: 0x103,
    })
    expect(run.jobLogs.unit).toMatchObject({
      traceId: 'f09bd275a66f6824d2b176f2a52ef4b6',
      spanId: '1510fa0b066b7919',
      flags: 0x03,
    })
    expect(resourceOf(run, 'metrics')['svc.cicd.pipeline.trace_id']).toBe('f09bd275a66f6824d2b176f2a52ef4b6')
  })

  test('the same ids on two instances give two traces', () => {
    const [ours, theirs] = convertEachOfFixture('same-ids-on-two-instances')
    expect(ours!.exported!.pipeline.traceId).toBe('e84eb2753c6b347b93dd58fc6fe74eab')
    expect(theirs!.exported!.pipeline.traceId).toBe('ec19ed4fffb6e1579dd6a961bd85eb75')
  })

  test('the log record of a bridge has the span id that the bridge exports', () => {
    const run = convertFixture('e39-job-in-builds-and-bridges')
    expect(run.jobs['kessel-nord']!.spanId).toBe('843cd50c923e34a8')
    expect(run.jobLogs['kessel-nord']!.spanId).toBe('843cd50c923e34a8')
  })
})

describe('native ids', () => {
  const run = () => convertFixture('native-ids-root-100-child-123', { idScheme: 'native' })

  test('match the literal vectors of the specification', () => {
    const { pipeline, jobs } = run()
    expect(pipeline).toMatchObject({
      traceId: '00000000000000000000000000000064',
      spanId: 'ce2155075864c58b',
      parentSpanId: '000000000000005a',
      flags: 0x301,
    })
    expect(jobs['pier-1']).toMatchObject({ spanId: '0352fd9ca0a1e4b2', flags: 0x101 })
    expect(jobs['pier-2']!.spanId).toBe('0000000000000002')
  })

  test('the explicit randomness is that of the hashed trace id', () => {
    for (const span of run().spans) expect(span.traceState).toBe('ot=rv:4d25e3a42c5aba')
  })

  test('logs refer to the exported spans, including bridges', () => {
    const { jobLogs, log } = run()
    expect(log).toMatchObject({ spanId: 'ce2155075864c58b', flags: 0x01 })
    expect(jobLogs['pier-2']!.spanId).toBe('0000000000000002')
  })

  test('edge 48: the largest id is padded without rounding', () => {
    const { pipeline } = convertFixture('e48-ids-next-to-the-largest-int64', { idScheme: 'native' })
    expect(pipeline.traceId).toBe('00000000000000007fffffffffffffff')
  })
})

describe('child pipelines', () => {
  test('a child is a remote child span of the bridge that started it', () => {
    const { pipeline } = convertFixture('child-pipeline-of-a-bridge')
    expect(pipeline).toMatchObject({
      traceId: '667f6c6d2142d9f78951e9420570f88b',
      spanId: '7813017625b8d422',
      parentSpanId: 'c7bfdd9deb4a4f8f',
      flags: 0x303,
      links: [],
    })
    expect(attribute(pipeline, 'pipeline.source_pipeline.pipeline_id')).toBe(20840n)
    expect(attribute(pipeline, 'svc.cicd.pipeline.source_pipeline.id')).toBe(20840n)
  })

  test('if bridges are not listed, it is a child span of the parent pipeline, with a link to the bridge', () => {
    const [, child] = convertEachOfFixture('parent-and-child-from-a-hook-without-bridges')
    const { pipeline } = child!.exported!
    expect(pipeline).toMatchObject({
      traceId: '667f6c6d2142d9f78951e9420570f88b',
      parentSpanId: '44e7e90e484554df',
      flags: 0x303,
    })
    expect(pipeline.links).toMatchObject([
      { traceId: '667f6c6d2142d9f78951e9420570f88b', spanId: 'c7bfdd9deb4a4f8f', flags: 0x303 },
    ])
    expect(attribute(pipeline.links[0]!, LINK_TYPE)).toBe('upstream_pipeline')
  })

  test('edge 44: a child that arrives before its parent is in the same trace, and the parent span follows', () => {
    const [child, parent] = convertEachOfFixture('e44-child-arrives-before-its-parent')
    expect(parent!.exported!.pipeline).toMatchObject({
      traceId: '39e322f24ed91414dc4ff2432e89905f',
      spanId: '01c8e2a4e7b16b9e',
      parentSpanId: '',
    })
    expect(child!.exported!.pipeline).toMatchObject({
      traceId: '39e322f24ed91414dc4ff2432e89905f',
      spanId: '98d42f47e899e53a',
      parentSpanId: '01c8e2a4e7b16b9e',
    })
  })

  test('edge 44: a grandchild finds the root through the record of its parent', () => {
    const runs = convertEachOfFixture('e44-grandchild-arrives-after-child-before-parent').map(
      ({ exported }) => exported!,
    )
    for (const run of runs) expect(run.pipeline.traceId).toBe('5442c3ed53bbb1eebd5e3ba1cc5a4e01')
    const [child, grandchild, parent] = runs
    expect(parent!.pipeline.spanId).toBe('9aba97311c05889a')
    expect(child!.pipeline).toMatchObject({ spanId: 'f8bad9b8411119a0', parentSpanId: '9aba97311c05889a' })
    expect(grandchild!.pipeline).toMatchObject({ spanId: 'c40310546274cae9', parentSpanId: 'f8bad9b8411119a0' })
    expect(grandchild!.pipeline.links).toMatchObject([{ spanId: '785b50481cb4cfc3' }])
  })

  test('edge 45: if the root is unknown, the direct parent is used and marked as unresolved', () => {
    const { pipeline } = convertFixture('e45-child-of-a-child-without-root-id')
    expect(pipeline).toMatchObject({ traceId: 'e458f975f7f20a19830a22c37a942c49', parentSpanId: '52eda5b11e9e46e6' })
    expect(attribute(pipeline, ROOT_RESOLVED)).toBe(false)
  })

  test('edge 45: later records do not change the parent of exported spans', () => {
    const [grandchild, child] = convertEachOfFixture('e45-grandchild-arrives-first-and-child-later')
    expect(grandchild!.exported!.pipeline.traceId).toBe('bf0b8bc1c0a7439e927f43d336212f31')
    expect(attribute(grandchild!.exported!.pipeline, ROOT_RESOLVED)).toBe(false)
    expect(child!.exported!.pipeline.traceId).toBe('ae0477d5f43f2bd3419548a4f78a4441')
  })

  test.each(['e47-source-pipeline-is-itself', 'e47-two-pipelines-each-the-source-of-the-other'])(
    'edge 47: %s: the cycle is cut, and the run that closes it is a root',
    (name) => {
      const { pipeline } = convertEachOfFixture(name).at(-1)!.exported!
      expect(pipeline.parentSpanId).toBe('')
      expect(pipeline.flags).toBe(0x103)
      expect(pipeline.links).toEqual([])
      expect(attribute(pipeline, ROOT_RESOLVED)).toBeUndefined()
    },
  )

  test('edge 47: a pipeline that is its own source has its own trace, and a warning is counted', () => {
    const run = convertFixture('e47-source-pipeline-is-itself')
    expect(run.pipeline).toMatchObject({ traceId: '1044ae96ad0bd18c177eedfa950cd699', spanId: '08d3301fdc69ea0c' })
    expect(run.warnings.items.map(({ path }) => path)).toEqual(['source_pipeline.pipeline_id'])
  })

  test('edge 47: the second of two pipelines in a cycle is the root of its own trace', () => {
    const [, second] = convertEachOfFixture('e47-two-pipelines-each-the-source-of-the-other')
    expect(second!.exported!.pipeline.traceId).toBe('8bb36ceba204d261a7437c8700adc3ff')
  })
})

describe('edge 46: multi-project pipelines', () => {
  test('edge 46: have their own trace, linked to the bridge in the trace of the other project', () => {
    const { pipeline } = convertFixture('e46-downstream-of-another-project')
    expect(pipeline).toMatchObject({
      traceId: 'a67021ad24de26fc89806a6e39e18733',
      spanId: '54ad6d3c78498fab',
      parentSpanId: '',
      flags: 0x103,
    })
    expect(pipeline.links).toMatchObject([
      { traceId: '983682147c1862ebf436330d10cf0568', spanId: '9eabc84aeffc47d3', flags: 0x303 },
    ])
    expect(keysOf(pipeline.links[0]!)).toEqual([LINK_TYPE])
    expect(attribute(pipeline.links[0]!, LINK_TYPE)).toBe('upstream_pipeline')
    expect(attribute(pipeline, 'pipeline.source_pipeline.pipeline_id')).toBe(88411n)
  })

  test('edge 46: the link refers to a span that the upstream export contains', () => {
    const [upstream, downstream] = convertEachOfFixture('e46-upstream-then-downstream-of-another-project')
    const { traceId, spanId } = upstream!.exported!.jobs.depot!
    expect({ traceId, spanId }).toEqual({ traceId: '0ea0e26eb6e819351f05f4b259e8e87e', spanId: '86fe9d24ffe0be14' })
    expect(downstream!.exported!.pipeline.traceId).toBe('d3f074ef2605c8e9e021f9160ffcba39')
    expect(downstream!.exported!.pipeline.links).toMatchObject([{ traceId, spanId }])
  })
})

test('edge 46: if the upstream pipeline is itself a child, the link refers to the trace of its root', () => {
  const bodies = structuredClone(bodiesOf('e46-upstream-then-downstream-of-another-project')) as PipelineHook[]
  bodies[0]!.object_attributes.root_pipeline_id = 2_291_480_300
  const [upstream, downstream] = convertEach(bodies)
  const { traceId, spanId } = upstream!.exported!.jobs.depot!
  expect(traceId).toBe('324ea16fc699ac2b2dc9a44af556d052')
  expect(downstream!.exported!.pipeline.links).toMatchObject([{ traceId, spanId }])
})

describe('one span per id', () => {
  test('edge 39: an id in builds and bridges is a bridge', () => {
    const run = convertFixture('e39-job-in-builds-and-bridges')
    expect(run.spans.map(({ name }) => name)).toEqual(['RUN Braukessel Überwachung', 'job: image', 'job: kessel-nord'])
    expect(attribute(run.jobs['kessel-nord']!, 'job.type')).toBe('bridge')
    expect(attribute(run.jobs['kessel-nord']!, 'job.queued_duration')).toBe(0.976)
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([2n])
  })

  test('edge 39: of an id twice in one list, the one that finished later is used', () => {
    const run = convertFixture('e39-job-twice-in-builds-later-finish-wins')
    expect(run.spans).toHaveLength(3)
    expect(attribute(run.jobs.unit!, 'job.status')).toBe('success')
    expect(attribute(run.jobs.unit!, 'job.duration')).toBe(50.25)
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([2n])
  })

  test('edge 40: every attempt has a span with a link to the previous one; totals count the last', () => {
    const run = convertFixture('e40-rest-three-attempts-of-one-job')
    const attempts = run.spans.filter((span) => span.name === 'job: unit')
    expect(attempts.map(({ spanId }) => spanId)).toEqual(['73b6255425df58c7', '8fc31b7b9bab5bd1', '5fbbc31567f4d979'])
    expect(attempts.map((span) => attribute(span, 'svc.cicd.pipeline.task.run.attempt'))).toEqual([1n, 2n, 3n])
    expect(attempts.map(({ links }) => links.map(({ spanId }) => spanId))).toEqual([
      [],
      ['73b6255425df58c7'],
      ['8fc31b7b9bab5bd1'],
    ])
    expect(attempts[2]!.links[0]).toMatchObject({ traceId: '9800af25f608838680a70ce15696c358', flags: 0x103 })
    expect(attribute(attempts[2]!.links[0]!, LINK_TYPE)).toBe('previous_attempt')
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([2n])
  })

  test('edge 40: attempts in a hook', () => {
    const run = convertFixture('e40-hook-with-retried-builds')
    expect(run.spans.map(({ spanId }) => spanId).slice(1)).toEqual(['613cf9915772862d', 'af38ea368609b511'])
    expect(run.spans[2]!.links).toMatchObject([{ spanId: '613cf9915772862d' }])
    expect(valuesOf(run.metrics['cicd.pipeline.task.total'])).toEqual([1n])
    expect(run.metrics['cicd.pipeline.run.errors']).toBeUndefined()
  })

  test('edge 40: a first attempt that only job hooks name', () => {
    const run = convertFixture('e40-first-attempt-only-in-job-hooks')
    const [, first, second] = run.spans
    expect(run.spans).toHaveLength(3)
    expect(first!.endTimeUnixNano - first!.startTimeUnixNano).toBe(90_000_000_000n)
    expect(attribute(first!, 'job.status')).toBe('failed')
    expect(attribute(first!, 'error.type')).toBe('runner_system_failure')
    expect([first, second].map((span) => attribute(span!, 'svc.cicd.pipeline.task.run.attempt'))).toEqual([1n, 2n])
    expect(second!.links).toMatchObject([{ spanId: first!.spanId }])
    expect(valuesOf(run.metrics['pipeline.jobs_total'])).toEqual([1n])
    expect(valuesOf(run.metrics['cicd.pipeline.task.total'])).toEqual([1n])
    expect(run.metrics['cicd.pipeline.run.errors']).toBeUndefined()
  })

  test('edge 40: a job hook contains the attempt number of a job without its earlier attempts', () => {
    const run = convertFixture('job-hook-then-pipeline-hook')
    expect(attribute(run.jobs.simulate!, 'svc.cicd.pipeline.task.run.attempt')).toBe(2n)
    expect(attribute(run.jobs.unit!, 'svc.cicd.pipeline.task.run.attempt')).toBe(1n)
    expect(run.jobs.simulate!.links).toEqual([])
  })
})

describe('ids above 2^53', () => {
  test('edge 48: are exact as integers, strings, in hashes and in URLs', () => {
    const run = convertFixture('e48-ids-above-two-to-the-53')
    expect(run.pipeline).toMatchObject({ traceId: '4bb6ae4d60e4b7164c888aaa580e5f14', spanId: 'dd79f978f4a13df4' })
    expect(run.jobs.compile!.spanId).toBe('be0a10a25c1a6511')
    expect(run.jobs.unit!.spanId).toBe('b7767fa8ff96afeb')
    expect(attribute(run.pipeline, 'pipeline.id')).toBe(9_007_199_254_740_995n)
    expect(attribute(run.pipeline, 'pipeline.iid')).toBe(9_007_199_254_740_997n)
    expect(attribute(run.pipeline, 'cicd.pipeline.run.id')).toBe('9007199254740995')
    expect(attribute(run.pipeline, 'pipeline.user.id')).toBe(9_007_199_254_741_001n)
    expect(attribute(run.jobs.unit!, 'job.runner.id')).toBe(9_007_199_254_740_999n)
    expect(attribute(run.jobs.unit!, 'cicd.worker.id')).toBe('9007199254740999')
    expect(attribute(run.jobs.compile!, 'cicd.pipeline.task.run.url.full')).toBe(
      'https://ci.example.com/harbour/tide-tables/-/jobs/9007199254740993',
    )
  })

  test('edge 48: are exact up to the largest int64', () => {
    const { pipeline, jobs } = convertFixture('e48-ids-next-to-the-largest-int64')
    expect(pipeline).toMatchObject({ traceId: '09c430d05ba98cdef74be90a0ad24d2f', spanId: '145b52055ea7b23c' })
    expect(attribute(pipeline, 'pipeline.id')).toBe(9_223_372_036_854_775_807n)
    expect(attribute(jobs.unit!, 'job.id')).toBe(9_223_372_036_854_775_806n)
  })

  test('edge 48: are exact in REST answers', () => {
    const run = convertFixture('e48-rest-ids-above-two-to-the-53')
    expect(attribute(run.pipeline, 'pipeline.id')).toBe(9_007_199_254_741_005n)
    expect(attribute(run.jobs.unit!, 'job.id')).toBe(9_007_199_254_741_007n)
  })

  test('edge 48: digits in a string are not changed', () => {
    const { pipeline } = convertFixture('e48-digits-inside-strings-stay-strings')
    expect(attribute(pipeline, 'pipeline.ref')).toBe('9007199254740993')
    expect(attribute(pipeline, 'pipeline.name')).toBe('build 9007199254740993 of 12345678901234567890')
  })

  test('edge 48: an id above the largest int64 is refused', () => {
    expect(() => readRefusedFixture('e48-e49-id-above-the-largest-int64.json')).toThrow('object_attributes.id')
  })
})

const readRefusedFixture = (file: string) => readInput(parseLossless(refusedText(file)), { receivedAtNs: undefined })

describe('invalid ids', () => {
  test.each([
    ['e49-id-zero.json', 'object_attributes.id'],
    ['e49-id-negative.json', 'object_attributes.id'],
    ['e49-id-negative-below-two-to-the-53.json', 'object_attributes.id'],
    ['e49-id-non-numeric.json', 'object_attributes.id'],
    ['e49-id-null.json', 'object_attributes.id'],
    ['e49-id-missing.json', 'object_attributes.id'],
    ['e49-id-a-fraction.json', 'object_attributes.id'],
    ['e49-id-an-object.json', 'object_attributes.id'],
    ['e49-job-id-zero.json', 'builds[1].id'],
    ['e49-rest-pipeline-id-zero.json', 'pipeline.id'],
  ])('edge 49: %s is refused at %s', (file, path) => {
    expect(() => readRefusedFixture(file)).toThrow(RecordError)
    expect(() => readRefusedFixture(file)).toThrow(path)
  })

  test('edge 49: of several bodies, only the invalid one is refused', () => {
    const bodies = parseLossless(refusedText('e49-array-with-one-bad-body.json')) as unknown[]
    const read = bodies.map((body) => {
      try {
        return readInput(body, { receivedAtNs: undefined }).kind
      } catch (error) {
        return error instanceof RecordError ? 'refused' : error
      }
    })
    expect(read.filter((kind) => kind === 'refused')).toHaveLength(1)
    expect(read.filter((kind) => kind === 'pipeline')).toHaveLength(bodies.length - 1)
  })
})
