import { jsonLog } from '@penstock/runtime'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdmissionRequest } from '../contract/admission.ts'
import { AccessLog, type Ending } from './access-log.ts'
import { LineThrottle } from './line-throttle.ts'

const presented: AdmissionRequest = {
  transport: 'http',
  signal: 'traces',
  credential: { kind: 'bearer', value: 'psin_the-whole-secret', from: 'header' },
  origin: undefined,
  certificateNames: undefined,
  source: '192.0.2.7',
  userAgent: 'otel',
  requestId: 'r-1',
  declaredBytes: 100,
}
const ending: Ending = { status: 401, bytes: 0, upstreamMs: undefined }

function recorded(settings = { logAccepted: false }) {
  const lines: string[] = []
  const log = jsonLog({ write: (line) => lines.push(line) }, () => 0)
  const entries = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { access: new AccessLog(log, { ...settings, random: () => 0.5 }), lines, entries }
}

test('O-13: a refused request is logged as one line, without its secret', () => {
  const { access, lines, entries } = recorded()
  access.refused(presented, 'expired', '7Hq2mK9sT4bZ', { ...ending, upstreamMs: 12 }, 0)

  expect(entries()).toEqual([
    {
      level: 'warn',
      time: '1970-01-01T00:00:00.000Z',
      event: 'ingest.refused',
      reason: 'expired',
      request_id: 'r-1',
      source: '192.0.2.7',
      token_id: '7Hq2mK9sT4bZ',
      signal: 'traces',
      transport: 'http',
      bytes: 0,
      status: 401,
      upstream_ms: 12,
      msg: 'a request was refused',
    },
  ])
  expect(lines.join()).not.toContain('psin_')
})

test('a body that is too large when inflated is logged with the limit and its wire size', () => {
  const { access, entries } = recorded()
  const detail = 'The body is longer than 1000 bytes, as sent or inflated.'
  access.refused(presented, 'body_too_large', undefined, { ...ending, status: 413, bytes: 548, detail }, 0)
  expect(entries()).toMatchObject([{ reason: 'body_too_large', bytes: 548, detail }])
})

test('T-12: logs one line in 10 s per source, reason and token; the next line has the number of suppressed lines', () => {
  const { access, entries } = recorded()
  for (const nowMs of [0, 1, 9_999, 10_000]) access.refused(presented, 'unknown', undefined, ending, nowMs)
  access.refused({ ...presented, source: '192.0.2.8' }, 'unknown', undefined, ending, 5)
  access.refused(presented, 'missing', undefined, ending, 5)
  access.refused(presented, 'unknown', 'a', ending, 5)

  expect(entries().map(({ source, reason, token_id, suppressed }) => [source, reason, token_id, suppressed])).toEqual([
    ['192.0.2.7', 'unknown', undefined, undefined],
    ['192.0.2.7', 'unknown', undefined, 2],
    ['192.0.2.8', 'unknown', undefined, undefined],
    ['192.0.2.7', 'missing', undefined, undefined],
    ['192.0.2.7', 'unknown', 'a', undefined],
  ])
})

test('T-12: the number of lines suppressed at the end of a flood is logged once', () => {
  const { access, entries } = recorded()
  for (const nowMs of [0, 1, 2]) access.refused(presented, 'bad_secret', undefined, ending, nowMs)
  access.sweep(9_999)
  access.sweep(10_000)
  access.sweep(20_000)

  expect(entries().map(({ msg, suppressed }) => [msg, suppressed])).toEqual([
    ['a request was refused', undefined],
    ['further requests were refused', 2],
  ])
})

test('T-12: new sources share one line when the throttle is full', () => {
  const throttle = new LineThrottle()
  const written = (from: number, to: number, nowMs: number) => {
    let lines = 0
    for (let index = from; index < to; index += 1) {
      if (throttle.suppressedBefore(`source-${index}`, 'missing', undefined, nowMs) >= 0) lines += 1
    }
    return lines
  }
  expect(written(0, 10_000, 0)).toBe(10_000)
  expect(written(10_000, 30_000, 1)).toBe(1)

  const unreported = throttle.sweep(10_001)
  expect(unreported).toEqual([{ source: 'others', reason: 'missing', tokenId: undefined, count: 19_999 }])
  expect(written(0, 100, 10_002)).toBe(100)
})

test('T-12: every refusal is either logged or counted as suppressed', () => {
  const refusals = fc.array(
    fc.record({
      source: fc.constantFrom('a', 'b'),
      reason: fc.constantFrom('missing', 'expired'),
      tokenId: fc.constantFrom(undefined, 't'),
      waitMs: fc.integer({ min: 0, max: 12_000 }),
    }),
  )
  fc.assert(
    fc.property(refusals, (all) => {
      const throttle = new LineThrottle()
      let nowMs = 0
      let reported = 0
      for (const { source, reason, tokenId, waitMs } of all) {
        nowMs += waitMs
        const suppressed = throttle.suppressedBefore(source, reason, tokenId, nowMs)
        if (suppressed >= 0) reported += 1 + suppressed
      }
      for (const { count } of throttle.sweep(nowMs + 10_000)) reported += count
      expect(reported).toBe(all.length)
    }),
  )
})

test('O-13: accepted requests are logged only if configured', () => {
  const accepted: Ending = { status: 200, bytes: 100, upstreamMs: 3 }
  const silent = recorded()
  silent.access.accepted(presented, 'a', accepted)
  expect(silent.entries()).toEqual([])

  const { access, entries } = recorded({ logAccepted: true })
  access.accepted(presented, 'a', accepted)
  expect(entries().map(({ event, status, upstream_ms }) => [event, status, upstream_ms])).toEqual([
    ['ingest.accepted', 200, 3],
  ])
})

test.each([
  ['a-Z_09.:/+=@', 'a-Z_09.:/+=@'],
  ['x'.repeat(128), 'x'.repeat(128)],
  ['x'.repeat(129), 'i000000000'],
  ['two words', 'i000000000'],
  ['"quoted"', 'i000000000'],
  ['é', 'i000000000'],
  ['', 'i000000000'],
  [undefined, 'i000000000'],
])('O-13: the request id %j is logged as %s', (requestId, expected) => {
  const { access, entries } = recorded()
  access.refused({ ...presented, requestId }, 'missing', undefined, ending, 0)
  expect(entries()[0]?.request_id).toBe(expected)
})
