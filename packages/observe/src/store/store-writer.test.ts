import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeRequest } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OneThreadStore } from '../one-thread-store.harness.ts'
import { counter, logBody, logRecord, metricBody, numberedTrace, toTraceId, traceBody } from '../telemetry.harness.ts'
import type { ObserveLimits } from './observe-limits.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const MIB = 1024 * 1024

let directory: string
let file: string
let clock: ManualClock
let store: OneThreadStore

const open = async (limits: Partial<ObserveLimits> = {}) => {
  store = await OneThreadStore.open({ file, clock, limits })
}
const keep = async (signal: 'traces' | 'metrics' | 'logs', body: Uint8Array) => {
  expect(await store.receiveBody(signal, body, 'json')).toEqual({ kind: 'kept', partialSuccess: undefined })
}
const listedTraces = async () => (await store.queries.traces({ limit: 1_000 })).map(({ trace_id }) => trace_id)
/** Runs maintenance. The last minute is a separate move of the clock: one long move could overtake a slow maintenance. */
const maintained = async (ms: number) => {
  await clock.untilSleeping()
  await clock.advance(ms - MINUTE_MS)
  await clock.untilSleeping()
  await clock.advance(MINUTE_MS)
  await clock.untilSleeping()
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  file = join(directory, 'observe.db')
  clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'))
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

describe('received telemetry', () => {
  beforeEach(() => open())

  test('is returned to the last digit, whatever its type', async () => {
    const span = {
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      parentSpanId: 'eee19b7ec3c1b173',
      flags: 259,
      name: 'odd ones',
      kind: 3,
      startTimeUnixNano: '1767225600123456789',
      endTimeUnixNano: '18446744073709551615',
      attributes: [
        { key: 'int', value: { intValue: '-9223372036854775808' } },
        { key: 'double', value: { doubleValue: 3 } },
        { key: 'not a number', value: { doubleValue: 'NaN' } },
        { key: 'bytes', value: { bytesValue: 'AAEC' } },
        { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, {}] } } },
        { key: 'nothing', value: {} },
      ],
      events: [{ timeUnixNano: '1767225600123456790', name: 'seen' }],
      links: [{ traceId: 'f'.repeat(32), spanId: 'f'.repeat(16), traceState: 'a=b' }],
      status: { message: 'no', code: 2 },
    }
    const resource = {
      attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }],
      droppedAttributesCount: 1,
    }
    const scope = { name: 'lib', version: '2', attributes: [{ key: 'k', value: { boolValue: true } }] }
    const resourceSpans = [
      { resource, scopeSpans: [{ scope, spans: [span], schemaUrl: 'https://b' }], schemaUrl: 'https://a' },
    ]
    await keep('traces', Buffer.from(JSON.stringify({ resourceSpans })))

    const stored = await store.queries.trace(span.traceId, 10)

    expect(stored).toEqual({ trace_id: span.traceId, resourceSpans, truncated: false })
  })

  test('is refused without a trace in the store if it is not OTLP', async () => {
    const cut = traceBody({ traceId: '1'.repeat(32), spanId: '2'.repeat(16) }).subarray(0, 100)
    expect(await store.receiveBody('traces', cut, 'json')).toEqual({ kind: 'rejected', text: 'not JSON in UTF-8' })
    expect(await store.receiveBody('traces', Uint8Array.of(0x0a, 5), 'protobuf')).toMatchObject({ kind: 'rejected' })
    expect(await listedTraces()).toEqual([])
  })

  test('rejects spans without a trace id or span id, and stores the others', async () => {
    const body = traceBody({ traceId: '1'.repeat(32), spanId: '2'.repeat(16) }, { traceId: '', spanId: '3'.repeat(16) })
    expect(await store.receiveBody('traces', body, 'json')).toEqual({
      kind: 'kept',
      partialSuccess: { rejected: 1n, message: 'spans without trace id or span id belong to no trace' },
    })
    expect(await listedTraces()).toEqual(['1'.repeat(32)])
  })

  test('treats ids of only zeros as missing, in every place', async () => {
    const trace = '0'.repeat(32)
    const span = '0'.repeat(16)
    const [rootId, otherId] = ['2'.repeat(16), '3'.repeat(16)]
    const valid = { traceId: '1'.repeat(32), spanId: rootId }
    const links = [
      { ...valid, traceState: 'a=b' },
      { ...valid, spanId: span },
      { ...valid, traceId: trace },
    ]
    const spans = [
      { ...valid, parentSpanId: span, name: 'root', links },
      { traceId: trace, spanId: otherId, name: 'no trace' },
      { traceId: valid.traceId, spanId: span, name: 'no span' },
    ]
    const traces = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    expect(await store.receiveBody('traces', Buffer.from(traces), 'json')).toMatchObject({
      partialSuccess: { rejected: 2n },
    })
    const stored = (await store.queries.trace(valid.traceId, 10))!
    const [root] = (stored.resourceSpans as unknown as { scopeSpans: { spans: object[] }[] }[])[0]!.scopeSpans[0]!.spans
    expect(root).toEqual({ ...valid, name: 'root', links: [links[0]], droppedLinksCount: 2 })
    expect(await store.queries.trace(trace, 10)).toBeUndefined()

    const records = [{ timeUnixNano: '1', traceId: trace, spanId: span, body: { stringValue: 'outside' } }]
    await keep('logs', Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] })))
    expect(await store.queries.logRecords({ traceId: trace, limit: 10 })).toEqual([])
    const [log] = await store.queries.logRecords({ limit: 10 })
    expect(log).not.toHaveProperty('traceId')
    expect(log).not.toHaveProperty('spanId')

    const exemplars = [{ timeUnixNano: '1', asInt: '3', traceId: trace, spanId: span }]
    const sum = { dataPoints: [{ timeUnixNano: '1', asInt: '3', exemplars }], aggregationTemporality: 1 }
    const metrics = [{ name: 'n', sum }]
    await keep('metrics', Buffer.from(JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })))
    const metric = await store.queries.metric({ name: 'n', maxSeries: 1, maxPointsPerSeries: 1 })
    expect(metric.series).toHaveLength(1)
    expect(JSON.stringify(metric)).not.toContain(span)
  })

  test('writes a large request in slices, and others between them', async () => {
    const order: string[] = []
    const spans = Array.from({ length: 5_100 }, (_, index) => {
      return { traceId: toTraceId(2), spanId: (index + 1).toString(16).padStart(16, '0'), name: 'x'.repeat(150) }
    })
    const large = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))
    const first = store.receiveBody('traces', large, 'json').then(() => order.push('large'))
    const second = store.receiveBody('traces', numberedTrace(1), 'json').then(() => order.push('small'))
    await Promise.all([first, second])
    expect(order).toEqual(['small', 'large'])
    expect((await store.queries.status()).kept.spans).toBe(5_101)
  })

  test('accepts an empty request', async () => {
    await keep('traces', Buffer.from('{}'))
    await keep('metrics', Buffer.from('{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"n","gauge":{}}]}]}]}'))
    expect((await store.queries.status()).kept).toEqual({ spans: 0, log_records: 0, points: 0 })
  })

  test('survives a restart', async () => {
    await keep('traces', numberedTrace(7))
    await store.close()
    await open()
    expect(await listedTraces()).toEqual([toTraceId(7)])
    await keep('traces', numberedTrace(8))
    expect(await listedTraces()).toEqual([toTraceId(8), toTraceId(7)])
  })

  test('many concurrent requests are all stored, without blocking readers', async () => {
    const receipts = Array.from({ length: 200 }, (_, number) =>
      store.receiveBody('traces', numberedTrace(number), 'json'),
    )
    const readings = await Promise.all(Array.from({ length: 20 }, listedTraces))
    expect(readings.every((ids) => ids.length <= 200)).toBe(true)
    expect((await Promise.all(receipts)).every(({ kind }) => kind === 'kept')).toBe(true)
    expect(await listedTraces()).toHaveLength(200)
  })

  test('answers unavailable after a close', async () => {
    await store.close()
    expect(await store.receiveBody('traces', numberedTrace(1), 'json')).toMatchObject({ kind: 'unavailable' })
  })
})

describe('queries', () => {
  beforeEach(() => open())

  test('list services with their signals', async () => {
    await keep('traces', numberedTrace(1))
    await keep('logs', logBody('shop', logRecord(1, 9, 'open')))
    await keep('metrics', metricBody('till', counter(1, '3')))
    await keep(
      'logs',
      Buffer.from('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"who"}}]}]}]}'),
    )
    expect(await store.queries.services()).toEqual([
      { name: 'shop', signals: ['traces', 'logs'], last_seen_at: '2026-01-01T00:00:00.000Z' },
      { name: 'till', signals: ['metrics'], last_seen_at: '2026-01-01T00:00:00.000Z' },
      { name: 'unknown_service', signals: ['logs'], last_seen_at: '2026-01-01T00:00:00.000Z' },
    ])
  })

  test('summarize traces over services and requests', async () => {
    const traceId = 'a'.repeat(32)
    await keep(
      'traces',
      traceBody({
        traceId,
        spanId: '2'.repeat(16),
        parentSpanId: '1'.repeat(16),
        service: 'till',
        start: 2,
        end: 9,
        failed: true,
      }),
    )
    expect(await store.queries.traces({ limit: 10 })).toMatchObject([{ root: null, spans: 1 }])
    await keep('traces', traceBody({ traceId, spanId: '1'.repeat(16), name: 'buy', start: 1, end: 5 }))
    expect(await store.queries.traces({ limit: 10, service: 'till' })).toEqual([
      {
        trace_id: traceId,
        start_time_unix_nano: '1767225601000000000',
        end_time_unix_nano: '1767225609000000000',
        spans: 2,
        errors: 1,
        services: ['shop', 'till'],
        root: { name: 'buy', service: 'shop', status_code: 0 },
        run: null,
      },
    ])
  })

  test('list traces of a service and a time range, the latest first, up to the limit', async () => {
    for (const number of [3, 1, 2, 4]) await keep('traces', numberedTrace(number))
    await keep('traces', numberedTrace(5, { service: 'till' }))
    const found = async (query: object) =>
      (await store.queries.traces({ limit: 10, ...query })).map(({ trace_id }) => trace_id)
    expect(await found({ service: 'shop', limit: 2 })).toEqual([toTraceId(4), toTraceId(3)])
    expect(await found({ sinceNs: 1_767_225_602_000_000_000n, untilNs: 1_767_225_604_000_000_000n })).toEqual([
      toTraceId(3),
      toTraceId(2),
    ])
    expect(await found({ service: 'unknown' })).toEqual([])
  })

  test('truncate a long trace, and say so', async () => {
    const traceId = 'a'.repeat(32)
    const spans = Array.from({ length: 5 }, (_, index) => ({
      traceId,
      spanId: `${index + 1}`.repeat(16),
      start: index,
    }))
    await keep('traces', traceBody(...spans.toReversed()))
    const { resourceSpans, truncated } = (await store.queries.trace(traceId, 3))!
    const { resources } = decodeRequest('traces', Buffer.from(JSON.stringify({ resourceSpans })), 'json')
    expect(resources[0]?.scopes[0]?.items.map(({ spanId }) => spanId[0])).toEqual(['1', '2', '3'])
    expect([resources.length, truncated]).toEqual([1, true])
    expect(await store.queries.trace('b'.repeat(32), 3)).toBeUndefined()
  })

  test('list logs by service, severity, trace and time, the latest first', async () => {
    const traceId = 'a'.repeat(32)
    await keep(
      'logs',
      logBody('shop', logRecord(1, 9, 'one'), logRecord(3, 17, 'three', { traceId }), logRecord(2, 13, 'two')),
    )
    await keep('logs', logBody('till', logRecord(4, 0, 'four')))
    const texts = async (query: object) =>
      (await store.queries.logRecords({ limit: 10, ...query })).map(
        ({ record }) => (record as { body: { stringValue: string } }).body.stringValue,
      )
    expect(await texts({})).toEqual(['four', 'three', 'two', 'one'])
    expect(await texts({ service: 'shop', minSeverity: 13 })).toEqual(['three', 'two'])
    expect(await texts({ traceId })).toEqual(['three'])
    expect(await texts({ untilNs: 1_767_225_603_000_000_000n, limit: 1 })).toEqual(['two'])
    expect((await store.queries.logRecords({ traceId, limit: 1 }))[0]).toEqual({
      service: 'shop',
      time_unix_nano: '1767225603000000000',
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      resource_schema_url: '',
      scope: { name: 'shop', version: '1' },
      scope_schema_url: '',
      record: { timeUnixNano: '1767225603000000000', severityNumber: 17, body: { stringValue: 'three' }, traceId },
    })
  })

  test('group points of one series, whatever the order of their attributes', async () => {
    const [a, b] = ['a', 'b'].map((key) => ({ key, value: { stringValue: key } }))
    await keep('metrics', metricBody('shop', counter(2, '9007199254740993', [b!, a!])))
    await keep('metrics', metricBody('shop', counter(1, '3', [a!, b!]), counter(1, '1', [a!])))
    await keep('metrics', metricBody('till', counter(1, '5')))
    expect(await store.queries.metricNames({ limit: 10 })).toEqual([
      { name: 'requests', type: 'sum', unit: '{request}', description: '', series: 3 },
    ])
    const { series } = await store.queries.metric({
      name: 'requests',
      service: 'shop',
      maxSeries: 10,
      maxPointsPerSeries: 10,
    })
    expect(
      series.map(({ attributes, points }) => [
        attributes.length,
        points.map((point) => (point as { asInt: string }).asInt),
      ]),
    ).toEqual([
      [2, ['3', '9007199254740993']],
      [1, ['1']],
    ])
    expect(series[0]).toMatchObject({ type: 'sum', unit: '{request}', aggregation_temporality: 2, is_monotonic: true })
    const short = await store.queries.metric({ name: 'requests', maxSeries: 1, maxPointsPerSeries: 1 })
    expect([short.truncated, short.series.length, short.series[0]?.truncated]).toEqual([true, 1, true])
  })

  test.each([
    ['gauge', { gauge: { dataPoints: [{ timeUnixNano: '5', asDouble: 0.5 }] } }],
    [
      'histogram',
      {
        histogram: {
          aggregationTemporality: 1,
          dataPoints: [{ timeUnixNano: '5', count: '3', sum: 2, bucketCounts: ['1', '2'], explicitBounds: [1] }],
        },
      },
    ],
    [
      'exponentialHistogram',
      {
        exponentialHistogram: {
          aggregationTemporality: 1,
          dataPoints: [
            { timeUnixNano: '5', count: '3', scale: 2, zeroCount: '1', positive: { offset: -1, bucketCounts: ['2'] } },
          ],
        },
      },
    ],
    [
      'summary',
      {
        summary: {
          dataPoints: [{ timeUnixNano: '5', count: '3', sum: 2, quantileValues: [{ quantile: 0.5, value: 1 }] }],
        },
      },
    ],
  ])('return points of a %s unchanged', async (type, data) => {
    await keep('metrics', metricBody('shop', { name: 'm', ...data }))
    const { series } = await store.queries.metric({ name: 'm', maxSeries: 1, maxPointsPerSeries: 1 })
    expect(series).toMatchObject([{ type, points: (Object.values(data)[0] as { dataPoints: object[] }).dataPoints }])
  })
})

describe('limits', () => {
  test('by age: deletes week-old items with everything that belongs to them', async () => {
    await open()
    await keep('traces', numberedTrace(1))
    await keep('metrics', metricBody('till', counter(1, '3')))
    await maintained(4 * DAY_MS)
    await keep('traces', numberedTrace(2))
    await maintained(3 * DAY_MS + MINUTE_MS)
    expect(await listedTraces()).toEqual([toTraceId(2)])
    expect((await store.queries.services()).map(({ name }) => name)).toEqual(['shop'])
    expect(await store.queries.metricNames({ limit: 10 })).toEqual([])
    expect((await store.queries.status()).oldest_received_at).toBe('2026-01-05T00:00:00.000Z')
    await maintained(5 * DAY_MS)
    expect(await store.queries.services()).toEqual([])
  })

  test('by size: deletes the oldest, keeps the newest, and never exceeds the limit', async () => {
    const maxFileBytes = 1 * MIB
    await open({ maxFileBytes })
    const text = 'x'.repeat(4_000)
    for (let number = 0; number < 600; number += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          keep('logs', logBody(`s${number}`, logRecord(number + index, 9, text))),
        ),
      )
      await clock.advance(30_000)
      await clock.untilSleeping()
      expect((await store.queries.status()).used_bytes).toBeLessThan(maxFileBytes + 256 * 1024)
    }
    await store.close()
    expect(statSync(file).size).toBeLessThan(maxFileBytes + 512 * 1024)
    await open({ maxFileBytes })
    const kept = await store.queries.logRecords({ limit: 1_000 })
    expect(kept[0]?.service).toBe('s580')
    expect(kept.length).toBeGreaterThan(50)
    expect(kept.length).toBeLessThan(300)
    expect((await store.queries.services()).length).toBeLessThan(30)
  })

  test('shrinks the file after deletions', async () => {
    await open()
    const text = 'x'.repeat(10_000)
    for (let number = 0; number < 5; number += 1) {
      await keep('logs', logBody('shop', ...Array.from({ length: 200 }, (_, index) => logRecord(index, 9, text))))
    }
    await store.close()
    expect(statSync(file).size).toBeGreaterThan(8 * MIB)
    await open()
    await maintained(8 * DAY_MS)
    await store.close()
    expect(statSync(file).size).toBeLessThan(2 * MIB)
    await open()
  })
})
