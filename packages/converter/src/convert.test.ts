import { type PipelineRecord, RecordError, readInput } from '@penstock/forges'
import {
  decodeRequest,
  type HistogramDataPoint,
  isSpanId,
  isTraceId,
  type KeyValue,
  type Metric,
  type NumberDataPoint,
  RequestEncoder,
  type Span,
} from '@penstock/otlp'
import { pipelineHooks } from '@penstock/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ConvertOptionsInput, resolveOptions } from './base/options.ts'
import { type Conversion, convert, convertChunks } from './convert.ts'

const receivedAtNs = 1_790_000_000_000_000_000n

function recordOf(body: unknown): PipelineRecord {
  const input = readInput(body, { receivedAtNs })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return input.record
}

const optionSets: ConvertOptionsInput[] = [
  {},
  { profile: 'native', stageSpans: true, multiProject: 'same-trace' },
  {
    profile: 'strict',
    skipNeverRan: true,
    user: 'hash',
    commitMessage: 'title',
    pendingPoint: true,
    bounds: 'fine',
    refLabel: '^main$',
  },
]
const conversions = fc
  .record({ hook: pipelineHooks(), options: fc.constantFrom(...optionSets) })
  .map(({ hook, options }) => {
    const record = recordOf(hook)
    return { record, options, conversion: convert(record, resolveOptions(options)) }
  })

const spansOf = ({ traces }: Conversion): readonly Span[] => traces.resources[0]!.scopes[0]!.items
const logsOf = ({ logs }: Conversion) => logs.resources[0]!.scopes[0]!.items
const toMetrics = ({ metrics }: Conversion): readonly Metric[] => metrics.resources[0]!.scopes[0]!.items

function attributeListsOf(conversion: Conversion): (readonly KeyValue[])[] {
  return [
    ...[conversion.traces, conversion.metrics, conversion.logs].map(
      ({ resources }) => resources[0]!.resource.attributes,
    ),
    ...spansOf(conversion).flatMap((span) => [span.attributes, ...span.links.map((link) => link.attributes)]),
    ...logsOf(conversion).map((record) => record.attributes),
    ...listPoints(conversion).map((point) => point.attributes),
  ]
}

function listPoints(conversion: Conversion): (NumberDataPoint | HistogramDataPoint)[] {
  return toMetrics(conversion).flatMap<NumberDataPoint | HistogramDataPoint>(({ data }) => {
    if (data?.type !== 'gauge' && data?.type !== 'sum' && data?.type !== 'histogram')
      throw new Error('unexpected metric')
    return data.dataPoints
  })
}

describe('for every payload', () => {
  test('reading and converting return a conversion or throw a RecordError with a path', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          pipelineHooks(),
          fc.json().map((text) => JSON.parse(text)),
        ),
        (body) => {
          try {
            const input = readInput(body, { receivedAtNs: undefined })
            if (input.kind === 'pipeline') convert(input.record)
          } catch (error) {
            expect(error).toBeInstanceOf(RecordError)
            expect((error as RecordError).path).toBeTypeOf('string')
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('ids are valid; span ids are distinct', () => {
    fc.assert(
      fc.property(conversions, ({ conversion }) => {
        const spans = spansOf(conversion)
        for (const span of spans) {
          expect(isTraceId(span.traceId)).toBe(true)
          expect(isSpanId(span.spanId)).toBe(true)
          expect(span.parentSpanId === '' || isSpanId(span.parentSpanId)).toBe(true)
          for (const link of span.links) expect(isTraceId(link.traceId) && isSpanId(link.spanId)).toBe(true)
        }
        expect(new Set(spans.map((span) => span.spanId)).size).toBe(spans.length)
        expect(new Set(spans.map((span) => span.traceId)).size).toBe(1)
      }),
    )
  })

  test('the first span has no parent or a remote one, and the others have a parent in the request', () => {
    fc.assert(
      fc.property(conversions, ({ conversion }) => {
        const [pipeline, ...others] = spansOf(conversion)
        const known = new Set(spansOf(conversion).map((span) => span.spanId))
        for (const span of others) expect(known.has(span.parentSpanId)).toBe(true)
        expect(pipeline!.flags & 0x300).toBe(pipeline!.parentSpanId === '' ? 0x100 : 0x300)
      }),
    )
  })

  test('log records refer to spans of the request', () => {
    fc.assert(
      fc.property(conversions, ({ conversion }) => {
        const known = new Set(spansOf(conversion).map((span) => span.spanId))
        for (const record of logsOf(conversion)) {
          expect(known.has(record.spanId)).toBe(true)
          expect(record.observedTimeUnixNano).toBeGreaterThan(0n)
        }
      }),
    )
  })

  test('no timestamp is 0, no span or window ends before it starts', () => {
    fc.assert(
      fc.property(conversions, ({ conversion }) => {
        for (const span of spansOf(conversion)) {
          expect(span.startTimeUnixNano).toBeGreaterThan(0n)
          expect(span.endTimeUnixNano).toBeGreaterThanOrEqual(span.startTimeUnixNano)
          expect(span.endTimeUnixNano).toBeLessThan(2n ** 63n)
        }
        for (const point of listPoints(conversion)) {
          expect(point.timeUnixNano).toBeGreaterThan(0n)
          expect(point.timeUnixNano).toBeGreaterThanOrEqual(point.startTimeUnixNano)
        }
      }),
    )
  })

  test('no key twice, no empty value, strings within their limit, one type per key', () => {
    const typeByKey = new Map<string, string>()
    fc.assert(
      fc.property(conversions, ({ conversion }) => {
        for (const attributes of attributeListsOf(conversion)) {
          expect(new Set(attributes.map(({ key }) => key)).size).toBe(attributes.length)
          for (const attribute of attributes) {
            const { key, type, value } = attribute
            expect(typeByKey.get(key) ?? type).toBe(type)
            typeByKey.set(key, type)
            for (const element of type === 'array' ? value : [attribute]) {
              if (element.type === 'string') {
                expect(element.value).not.toBe('')
                expect(element.value.isWellFormed()).toBe(true)
                expect(element.value).not.toContain('\0')
                expect(Buffer.byteLength(element.value)).toBeLessThanOrEqual(4_096)
              }
              if (element.type === 'double') expect(Number.isFinite(element.value)).toBe(true)
              if (element.type === 'int') expect(BigInt.asIntN(64, element.value)).toBe(element.value)
            }
            if (type === 'array') expect(value.length).toBeGreaterThan(0)
          }
        }
        for (const span of spansOf(conversion)) expect(Buffer.byteLength(span.name)).toBeLessThanOrEqual(1_024)
      }),
    )
  })

  test('bucket counts add up to the count, samples lie between min and max', () => {
    fc.assert(
      fc.property(conversions, ({ conversion }) => {
        for (const point of listPoints(conversion)) {
          if (!('bucketCounts' in point)) continue
          expect(point.count).toBeGreaterThan(0n)
          expect(point.bucketCounts.reduce((a, b) => a + b, 0n)).toBe(point.count)
          expect(point.bucketCounts.length).toBe(point.explicitBounds.length + 1)
          expect(point.min).toBeLessThanOrEqual(point.max!)
          expect(point.sum).toBeGreaterThanOrEqual(point.max!)
        }
      }),
    )
  })

  test('the order of jobs does not matter', () => {
    fc.assert(
      fc.property(
        pipelineHooks().chain((hook) =>
          fc.tuple(
            fc.constant(hook),
            fc.shuffledSubarray((hook as { builds: object[] }).builds, {
              minLength: (hook as { builds: object[] }).builds.length,
            }),
          ),
        ),
        ([hook, builds]) => {
          expect(convert(recordOf({ ...hook, builds }))).toEqual(convert(recordOf(hook)))
        },
      ),
    )
  })
})

test('splits the metrics of a pipeline with more stages than a request may have points', () => {
  const builds = Array.from({ length: 25 }, (_, i) => ({ id: i + 1, status: 'success', stage: `s${i}`, duration: 1 }))
  const record = recordOf({ object_attributes: { id: 1, status: 'success' }, builds })
  const options = {
    signals: ['metrics'] as const,
    encoder: new RequestEncoder('json'),
    limits: { maxItems: 10, maxBytes: 1e6 },
  }
  const pointCounts = [...convertChunks(record, resolveOptions(), options)]
    .flatMap(({ body }) => decodeRequest('metrics', body, 'json').resources[0]!.scopes[0]!.items)
    .filter((metric) => metric.name === 'job.duration_seconds')
    .map(({ data }) => data?.dataPoints.length)
  expect(pointCounts).toEqual([10, 10, 5])
})

test.each([{}, 'none', 7, true])('builds that are %j are not reported as 0 jobs', (builds) => {
  const body = { object_attributes: { id: 31, status: 'success', created_at: '2026-01-05T10:00:00Z' }, builds }
  const names = toMetrics(convert(recordOf(body))).map(({ name }) => name)
  expect(names).toContain('cicd.pipeline.run.count')
  expect(names).not.toContain('pipeline.jobs_total')
  expect(names).not.toContain('cicd.pipeline.task.total')
  const listed = toMetrics(convert(recordOf({ ...body, builds: null }))).map(({ name }) => name)
  expect(listed).toContain('pipeline.jobs_total')
})
