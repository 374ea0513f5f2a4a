import { convertChunks, resolveOptions } from '@penstock/converter'
import { parseLossless, RecordError, readInput } from '@penstock/forges'
import {
  decodeRequest,
  defaultChunkLimits,
  type EncodedChunk,
  type Encoding,
  encodeRequest,
  type ItemBySignal,
  type OtlpRequest,
  RequestEncoder,
  type Signal,
  signalNames,
} from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { bodiesOf } from '../fixtures.ts'
import {
  attribute,
  attributes,
  convertBody,
  convertFixture,
  type ExportedRun,
  histogramsOf,
  hookOf,
  refusedText,
} from './exported-run.ts'

const encodings: readonly Encoding[] = ['json', 'protobuf']

/** Returns the request as a receiver decodes it. */
function received<S extends Signal>(run: ExportedRun, signal: S, encoding: Encoding): OtlpRequest<S> {
  const request: OtlpRequest = run.conversion[signal]
  return decodeRequest(signal, encodeRequest(signal, request as OtlpRequest<S>, encoding), encoding)
}

const json = (run: ExportedRun, signal: Signal): string =>
  Buffer.from(encodeRequest(signal, run.conversion[signal], 'json')).toString()

const utf8 = (text: unknown): number => Buffer.byteLength(text as string)

describe('numbers on the wire', () => {
  test('edge 20: 0.173 is encoded exactly', () => {
    expect(json(convertFixture('e20-job-of-173-milliseconds'), 'traces')).toContain(
      '{"key":"job.duration","value":{"doubleValue":0.173}}',
    )
  })

  test('edge 21: 17.0 is a doubleValue, never an intValue', () => {
    const run = convertFixture('e21-duration-of-a-whole-number')
    const text = json(run, 'traces')
    expect(text.match(/\{"key":"job\.duration","value":\{"doubleValue":17(\.0)?\}\}/g)).toHaveLength(2)
    for (const encoding of encodings) {
      const [span] = received(run, 'traces', encoding).resources[0]!.scopes[0]!.items.slice(1)
      expect(span!.attributes.find(({ key }) => key === 'job.duration')).toEqual({
        key: 'job.duration',
        type: 'double',
        value: 17,
      })
    }
  })

  test('edge 25: the largest int64 is exact in both encodings', () => {
    const run = convertFixture('e25-artifact-of-the-largest-int64')
    expect(json(run, 'traces')).toContain('{"key":"job.artifacts.size","value":{"intValue":"9223372036854775807"}}')
    for (const encoding of encodings) {
      const span = received(run, 'traces', encoding).resources[0]!.scopes[0]!.items[1]!
      expect(attribute(span, 'job.artifacts.size')).toBe(9_223_372_036_854_775_807n)
    }
  })

  test('edge 48: ids above 2^53 are decimal strings in JSON', () => {
    const text = json(convertFixture('e48-ids-above-two-to-the-53'), 'traces')
    expect(text).toContain('{"key":"pipeline.id","value":{"intValue":"9007199254740995"}}')
    expect(text).toContain('{"key":"job.id","value":{"intValue":"9007199254740993"}}')
  })

  test('edge 19: a NaN literal is not JSON', () => {
    expect(() => parseLossless(refusedText('e19-nan-literal.txt'))).toThrow(RecordError)
    expect(() => parseLossless(refusedText('e19-nan-literal.txt'))).toThrow('is not valid JSON at line')
  })
})

describe('JSON', () => {
  const spans = JSON.parse(json(convertFixture('push-pipeline-five-jobs-three-stages'), 'traces')).resourceSpans[0]
    .scopeSpans[0].spans

  test('ids are hex, enums are integers, nanoseconds are strings, and a root has no parent', () => {
    expect(spans[0]).toMatchObject({
      traceId: 'f09bd275a66f6824d2b176f2a52ef4b6',
      spanId: '57597f4a8354785e',
      kind: 2,
      status: { code: 1 },
      startTimeUnixNano: '1770801614000000000',
      endTimeUnixNano: '1770801911000000000',
      flags: 259,
    })
    expect(spans[0]).not.toHaveProperty('parentSpanId')
    expect(spans[1].parentSpanId).toBe('57597f4a8354785e')
  })
})

describe('long texts', () => {
  test('edge 29: a generated commit message of 1 MB is truncated and counted, and the requests stay small', () => {
    const hook = hookOf('push-pipeline-five-jobs-three-stages')
    hook.commit.message = 'x'.repeat(1024 * 1024)
    const run = convertBody(hook)
    expect(attribute(run.pipeline, 'pipeline.commit.message')).toBe('x'.repeat(4096))
    expect(attribute(run.pipeline, 'svc.vcs.ref.head.revision.message')).toBe('x'.repeat(4096))
    expect(attribute(run.log, 'pipeline.commit.message')).toBe('x'.repeat(4096))
    expect(run.conversion.tally.truncatedTexts).toBe(1)
    for (const signal of signalNames) expect(json(run, signal).length).toBeLessThan(64 * 1024)
  })

  test('edge 29: truncation never splits a character', () => {
    const { pipeline } = convertFixture('e29-e30-commit-message-cut-inside-an-emoji')
    const message = attribute(pipeline, 'pipeline.commit.message')
    expect(utf8(message)).toBe(4094)
    expect(message).toMatch(/^Log every step\n\nabcdefghij .*pqrst abcdefgh$/s)
  })

  test('edge 30: a generated message of four-byte characters is truncated between two characters', () => {
    const hook = hookOf('push-pipeline-five-jobs-three-stages')
    hook.commit.message = '🧪'.repeat(1025)
    expect(attribute(convertBody(hook).pipeline, 'pipeline.commit.message')).toBe('🧪'.repeat(1024))
  })

  test('edge 30: a job name of 255 four-byte characters is complete as an attribute, and truncated in span name and body', () => {
    const run = convertFixture('e30-job-name-of-255-four-byte-characters')
    const [span] = run.spans.slice(1)
    expect(attribute(span!, 'job.name')).toBe('🜁'.repeat(255))
    expect(span!.name).toBe(`job: ${'🜁'.repeat(254)}`)
    const [log] = Object.values(run.jobLogs)
    expect(log!.body).toEqual({ type: 'string', value: `Job success: ${'🜁'.repeat(252)}` })
    expect(run.conversion.tally.truncatedTexts).toBe(2)
  })

  test('edge 30: other scripts, combining marks and emoji are unchanged in both encodings', () => {
    const run = convertFixture('e30-emoji-right-to-left-combining-and-four-byte-names')
    for (const encoding of encodings) {
      const [pipeline, first, second] = received(run, 'traces', encoding).resources[0]!.scopes[0]!.items
      expect(pipeline!.name).toBe('RUN 🍺 Sud №7 — مراقبة الغلاية')
      expect(attribute(pipeline!, 'pipeline.ref')).toBe('ветка/größe-𝒳')
      expect(attribute(pipeline!, 'pipeline.stages')).toEqual(['bauen 🧱', '試験'])
      expect(first!.name).toBe('job: übersetzen 👩🏽‍🔬')
      expect(second!.name).toBe('job: פנדל e\u0301 𐍈')
      expect(attribute(second!, 'job.runner.description')).toBe('docker-pool-04')
    }
  })

  test.each(encodings)('edge 31: lone surrogates become U+FFFD (%s)', (encoding) => {
    const run = convertFixture('e31-lone-surrogate')
    const [span] = received(run, 'traces', encoding).resources[0]!.scopes[0]!.items
    expect(span!.name).toBe('RUN broken \ufffd clock')
    expect(attributes(span!)).toMatchObject({
      'pipeline.name': 'broken \ufffd clock',
      'pipeline.ref': 'tail\ufffd',
      'pipeline.commit.message': 'half \ufffd an emoji\n',
    })
    const [log] = received(run, 'logs', encoding).resources[0]!.scopes[0]!.items
    expect(log!.body).toEqual({ type: 'string', value: 'Pipeline success: broken \ufffd clock' })
  })

  test.each(encodings)('edge 31: NUL is removed, other control characters stay (%s)', (encoding) => {
    const run = convertFixture('e31-nul-and-control-characters')
    const [span] = received(run, 'traces', encoding).resources[0]!.scopes[0]!.items
    expect(attribute(span!, 'pipeline.name')).toBe('nulinside')
    expect(attribute(span!, 'pipeline.commit.message')).toBe('bell\u0007 escape\u001b[31m nul\n')
  })

  test('edge 31: a name of NUL characters only is absent', () => {
    const hook = hookOf('push-pipeline-five-jobs-three-stages')
    hook.object_attributes.name = '\0\0'
    const run = convertBody(hook)
    expect(attribute(run.pipeline, 'pipeline.name')).toBeUndefined()
    expect(attribute(run.pipeline, 'cicd.pipeline.name')).toBe('tide-tables')
    expect(run.pipeline.name).toBe('RUN tide-tables')
    expect(run.log.body).toEqual({ type: 'string', value: 'Pipeline success: main' })
  })

  test('edge 53: a list is limited to 128 elements, and the others are counted', () => {
    const run = convertFixture('e53-more-stages-than-an-array-may-hold')
    const stages = attribute(run.pipeline, 'pipeline.stages') as string[]
    expect([stages.length, stages[0], stages[127]]).toEqual([128, 'step-001', 'step-128'])
    expect(run.conversion.tally.droppedElements).toBe(2)
    const points = histogramsOf(run.metrics['job.duration_seconds'])
    expect(points.map((point) => attribute(point, 'job.stage'))).toEqual(['step-001', 'step-130'])
  })
})

describe('edge 52: 10,000 jobs', () => {
  const JOBS = 10_000
  const hook = hookOf('push-pipeline-five-jobs-three-stages')
  const [template] = hook.builds
  hook.builds = Array.from({ length: JOBS }, (_, i) => ({ ...template, id: JOBS - i, name: `job-${JOBS - i}` }))
  const run = convertBody(hook)

  function chunksOf(encoding: Encoding): EncodedChunk[] {
    const encoder = new RequestEncoder(encoding)
    return [
      ...convertChunks(run.record, resolveOptions(), { signals: signalNames, encoder, limits: defaultChunkLimits }),
    ]
  }
  const itemsOf = <S extends Signal>(signal: S, chunks: readonly EncodedChunk[]): ItemBySignal[S][] =>
    chunks
      .filter((chunk) => chunk.signal === signal)
      .flatMap(({ body, encoding }) => decodeRequest(signal, body, encoding).resources[0]!.scopes[0]!.items)

  test.each(encodings)(
    'edge 52: bodies have at most 512 items and 1 MiB, and together equal the whole (%s)',
    (encoding) => {
      const chunks = chunksOf(encoding)
      for (const { items, body } of chunks) {
        expect(items).toBeLessThanOrEqual(512)
        expect(body.length).toBeLessThanOrEqual(1024 * 1024)
      }
      for (const signal of signalNames) {
        expect(itemsOf(signal, chunks)).toEqual(run.conversion[signal].resources[0]!.scopes[0]!.items)
      }
    },
  )

  test('edge 52: every body repeats resource and scope', () => {
    for (const { signal, body, encoding } of chunksOf('protobuf')) {
      const [group, ...others] = decodeRequest(signal, body, encoding).resources
      expect(others).toEqual([])
      expect(group!.resource).toEqual(run.conversion[signal].resources[0]!.resource)
      expect(group!.scopes[0]!.scope).toEqual(run.conversion[signal].resources[0]!.scopes[0]!.scope)
    }
  })

  test('edge 52: gives about 22 trace bodies in protobuf, the pipeline first, then jobs by id', () => {
    const chunks = chunksOf('protobuf')
    const bodies = chunks.filter(({ signal }) => signal === 'traces')
    expect(bodies.length).toBeGreaterThanOrEqual(20)
    expect(bodies.length).toBeLessThanOrEqual(30)
    const [first, ...jobs] = itemsOf('traces', chunks)
    expect(first!.spanId).toBe('57597f4a8354785e')
    expect(jobs.map((span) => attribute(span, 'job.id'))).toEqual(Array.from({ length: JOBS }, (_, i) => BigInt(i + 1)))
  })

  test('edge 52: bodies are generated one by one: the first does not need later jobs', () => {
    let asked = 0
    const jobs = run.record.jobs.map((job) => ({
      ...job,
      get artifacts() {
        asked++
        return job.artifacts
      },
    }))
    const encoder = new RequestEncoder('protobuf')
    const limits = defaultChunkLimits
    convertChunks({ ...run.record, jobs }, resolveOptions(), { signals: ['traces'], encoder, limits }).next()
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThan(2_000)
  })
})

describe('secrets', () => {
  const canaries = ['canary-secret-5d1e77', 'CANARY_KEY_81c2', 'canary-mail-90aa', 'canary-avatar-90aa']

  test.each(['e58-canary-secret-in-variables', 'e58-canary-in-e-mail-and-avatar'])(
    'edge 58: %s: no canary is exported, whatever the options',
    (name) => {
      for (const options of [{}, { profile: 'native' }, { user: 'hash', stageSpans: true }] as const) {
        const run = convertFixture(name, options)
        for (const signal of signalNames) {
          for (const encoding of encodings) {
            const bytes = Buffer.from(encodeRequest(signal, run.conversion[signal], encoding))
            for (const canary of canaries) expect(bytes.includes(canary)).toBe(false)
          }
        }
      }
    },
  )
})

describe('unknown input', () => {
  test.each(['e59-unknown-extra-fields', 'e59-nested-100-levels', 'e59-proto-key'])(
    'edge 59: %s is ignored',
    (name) => {
      const run = convertFixture(name)
      expect(run.warnings.total).toBe(0)
      expect(run.pipeline.name).toBe('RUN tide-tables')
      expect(attribute(run.pipeline, 'pipeline.status')).toBe('success')
      expect(Object.keys(run.jobs)).toEqual(['compile', 'unit'])
      expect(attribute(run.jobs.unit!, 'job.duration')).toBe(73.480112)
      expect({}).not.toHaveProperty('polluted')
    },
  )

  test('edge 59: 100 generated levels of nesting are accepted, 100,000 give a warning', () => {
    const nested = (levels: number): unknown => {
      const text = `${'['.repeat(levels)}1${']'.repeat(levels)}`
      const [body] = bodiesOf('push-pipeline-five-jobs-three-stages') as object[]
      return { ...body, notes: parseLossless(text) }
    }
    expect(convertBody(nested(100)).warnings.total).toBe(0)
    const deep = readInput(nested(100_000), { receivedAtNs: undefined })
    expect(deep.warnings.items.map(({ reason }) => reason)).toEqual(['has more than 512 levels of nesting'])
    expect(deep.kind === 'pipeline' && deep.record.id).toBe(31n)
  })
})
