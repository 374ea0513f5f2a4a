import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Reason, reasons } from '../contract/admission.ts'
import { ingestSignalNames } from '../contract/signals.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import { GateMetrics } from './gate-metrics.ts'
import { instruments } from './instruments.ts'
import { prometheusText } from './prometheus-text.ts'

const HOUR_MS = 3_600_000

const token = (id: string, name = id) => tokenRecord({ id, name })

const samples = (metrics: GateMetrics, name: string): string[] =>
  prometheusText([metrics.report()])
    .split('\n')
    .filter((line) => line.startsWith(name))

test('O-1: every outcome has a series at 0 from the start', () => {
  const metrics = new GateMetrics()
  metrics.answered('refused', 'grpc')

  expect(samples(metrics, 'otelcol_receiver_requests')).toEqual([
    'otelcol_receiver_requests{outcome="failure",receiver="otlp",transport="grpc"} 0',
    'otelcol_receiver_requests{outcome="failure",receiver="otlp",transport="http"} 0',
    'otelcol_receiver_requests{outcome="refused",receiver="otlp",transport="grpc"} 1',
    'otelcol_receiver_requests{outcome="refused",receiver="otlp",transport="http"} 0',
    'otelcol_receiver_requests{outcome="success",receiver="otlp",transport="grpc"} 0',
    'otelcol_receiver_requests{outcome="success",receiver="otlp",transport="http"} 0',
  ])
})

test('O-2: a decision is counted under its own labels; an allowed one has no reason', () => {
  const metrics = new GateMetrics()
  metrics.decided('traces', 'http', 'enforce', 'allow', undefined)
  metrics.decided('traces', 'http', 'enforce', 'allow', undefined)
  metrics.decided('logs', 'forward-auth', 'report', 'would_reject', 'missing')

  expect(samples(metrics, 'otelcol_ingestauth_decisions')).toEqual([
    'otelcol_ingestauth_decisions{decision="allow",mode="enforce",signal="traces",transport="http"} 2',
    'otelcol_ingestauth_decisions{decision="would_reject",mode="report",reason="missing",signal="logs",transport="forward-auth"} 1',
  ])
})

test('O-2: different kinds of decision never share a series', () => {
  const kinds = fc.record({
    signal: fc.constantFrom(...ingestSignalNames),
    transport: fc.constantFrom('http' as const, 'grpc' as const, 'forward-auth' as const),
    mode: fc.constantFrom('off' as const, 'report' as const, 'warn' as const, 'enforce' as const),
    decision: fc.constantFrom('allow' as const, 'reject' as const, 'would_reject' as const),
    reason: fc.constantFrom<Reason | undefined>(undefined, ...reasons),
  })
  fc.assert(
    fc.property(fc.uniqueArray(kinds, { selector: (kind) => JSON.stringify(kind), minLength: 1 }), (all) => {
      const metrics = new GateMetrics()
      for (const { signal, transport, mode, decision, reason } of all) {
        metrics.decided(signal, transport, mode, decision, reason)
      }
      const counted = metrics.report().cells.filter(({ name }) => name === 'otelcol_ingestauth_decisions')
      expect(counted.map(({ value }) => value)).toEqual(all.map(() => 1))
      expect(new Set(counted.map(({ labels }) => JSON.stringify(labels))).size).toBe(all.length)
    }),
  )
})

test('O-3: use is counted per token and signal', () => {
  const metrics = new GateMetrics()
  const runners = token('7Hq2mK9sT4bZ', 'ci-runners')
  metrics.tokenUsed(runners, 'traces', 100, 0)
  metrics.tokenUsed(runners, 'traces', 50, 0)
  metrics.tokenUsed(runners, 'logs', 7, 0)

  expect(samples(metrics, 'otelcol_ingestauth_token_bytes')).toEqual([
    'otelcol_ingestauth_token_bytes{signal="logs",token_id="7Hq2mK9sT4bZ",token_name="ci-runners"} 7',
    'otelcol_ingestauth_token_bytes{signal="traces",token_id="7Hq2mK9sT4bZ",token_name="ci-runners"} 150',
  ])
})

test('O-3: the series of a renamed token continue under the new name only', () => {
  const metrics = new GateMetrics()
  metrics.tokenUsed(token('a', 'old'), 'traces', 1, 0)
  metrics.tokenUsed(token('a', 'new'), 'traces', 1, 0)
  metrics.tokenUsed(token('a', 'new'), 'logs', 1, 0)

  expect(samples(metrics, 'otelcol_ingestauth_token_requests')).toEqual([
    'otelcol_ingestauth_token_requests{signal="logs",token_id="a",token_name="new"} 1',
    'otelcol_ingestauth_token_requests{signal="traces",token_id="a",token_name="new"} 1',
  ])
  expect(metrics.tokens.take().reduce((sum, { requests }) => sum + requests, 0)).toBe(3)
})

test('O-3: series of removed tokens are removed, and their untaken use is kept', () => {
  const metrics = new GateMetrics()
  metrics.tokenUsed(token('a'), 'traces', 10, 5)
  metrics.tokenUsed(token('b'), 'traces', 20, 6)
  metrics.tokens.retainOnly(new Set(['b']))

  expect(samples(metrics, 'otelcol_ingestauth_token_requests')).toEqual([
    'otelcol_ingestauth_token_requests{signal="traces",token_id="b",token_name="b"} 1',
  ])
  expect(metrics.tokens.take()).toEqual([
    { tokenId: 'a', signal: 'traces', requests: 1, bytes: 10, rejected: 0, lastUsedAtMs: 5 },
    { tokenId: 'b', signal: 'traces', requests: 1, bytes: 20, rejected: 0, lastUsedAtMs: 6 },
  ])
})

test('O-4: a request over a limit is counted by limit, and as rejected for its token', () => {
  const metrics = new GateMetrics()
  metrics.throttled(token('a'), 'traces', 'all.day.bytes', 3)

  expect(samples(metrics, 'otelcol_ingestauth_token_throttled')).toEqual([
    'otelcol_ingestauth_token_throttled{limit="all.day.bytes",signal="traces",token_id="a"} 1',
  ])
  expect(metrics.tokens.take()).toEqual([
    { tokenId: 'a', signal: 'traces', requests: 0, bytes: 0, rejected: 1, lastUsedAtMs: 3 },
  ])
})

test('O-5: every 64th verification is timed, starting with the first', () => {
  const metrics = new GateMetrics()
  const timed = Array.from({ length: 129 }, () => metrics.shouldTimeVerification())
  expect(timed.flatMap((isTimed, index) => (isTimed ? [index] : []))).toEqual([0, 64, 128])

  metrics.verifyDuration(0.000007)
  expect(samples(metrics, 'otelcol_ingestauth_verify_duration_count')).toEqual([
    'otelcol_ingestauth_verify_duration_count 1',
  ])
})

test('T-17: each use is taken once', () => {
  const metrics = new GateMetrics()
  metrics.tokenUsed(token('a'), 'metrics', 10, 1_000)
  metrics.tokenUsed(token('a'), 'metrics', 10, 2_000)

  expect(metrics.tokens.take()).toEqual([
    { tokenId: 'a', signal: 'metrics', requests: 2, bytes: 20, rejected: 0, lastUsedAtMs: 2_000 },
  ])
  expect(metrics.tokens.take()).toEqual([])
})

test('T-17: use before and after the full hour gives separate rows', () => {
  const metrics = new GateMetrics()
  metrics.tokenUsed(token('a'), 'traces', 1, HOUR_MS - 1)
  metrics.tokenUsed(token('a'), 'traces', 2, HOUR_MS)

  expect(metrics.tokens.take()).toEqual([
    { tokenId: 'a', signal: 'traces', requests: 1, bytes: 1, rejected: 0, lastUsedAtMs: HOUR_MS - 1 },
    { tokenId: 'a', signal: 'traces', requests: 1, bytes: 2, rejected: 0, lastUsedAtMs: HOUR_MS },
  ])
})

test('T-17: nothing is lost when 50,000 tokens cross the full hour', () => {
  const metrics = new GateMetrics()
  const tokens = Array.from({ length: 50_000 }, (_, index) => token(String(index)))
  for (const one of tokens) metrics.tokenUsed(one, 'traces', 1, HOUR_MS - 1)
  for (const one of tokens) metrics.tokenUsed(one, 'traces', 2, HOUR_MS)

  const rows = metrics.tokens.take()
  expect(rows.map(({ tokenId }) => tokenId)).toEqual([...tokens, ...tokens].map(({ id }) => id))
  expect(rows.slice(0, 50_000).every(({ bytes, lastUsedAtMs }) => bytes === 1 && lastUsedAtMs < HOUR_MS)).toBe(true)
  expect(rows.slice(50_000).every(({ bytes, lastUsedAtMs }) => bytes === 2 && lastUsedAtMs === HOUR_MS)).toBe(true)
})

test('T-17: when too many rows wait, the oldest tenth is dropped', () => {
  const metrics = new GateMetrics()
  const used = (hours: number) => {
    for (let hour = 0; hour <= hours; hour += 1) metrics.tokenUsed(token('a'), 'traces', 1, hour * HOUR_MS)
    return metrics.tokens.take().map(({ lastUsedAtMs }) => lastUsedAtMs / HOUR_MS)
  }
  expect(used(100_000)).toEqual(Array.from({ length: 100_001 }, (_, hour) => hour))
  expect(used(100_001)).toEqual(Array.from({ length: 90_002 }, (_, index) => 10_000 + index))
})

test('T-17: rows that could not be stored are taken again', () => {
  const metrics = new GateMetrics()
  metrics.tokenUsed(token('a'), 'traces', 1, 5)
  const rows = metrics.tokens.take()
  metrics.tokens.putBack(rows)
  expect(metrics.tokens.take()).toEqual(rows)
})

test('gauges are updated before each report', () => {
  const metrics = new GateMetrics()
  let epoch = 1
  metrics.onReport(() => {
    metrics.registry.cell('otelcol_ingestauth_epoch').value = epoch
  })
  epoch = 2
  expect(samples(metrics, 'otelcol_ingestauth_epoch')).toEqual(['otelcol_ingestauth_epoch 2'])
})

test('every series has exactly the labels of its instrument', () => {
  const metrics = new GateMetrics()
  metrics.decided('traces', 'http', 'enforce', 'reject', 'expired')
  metrics.tokenUsed(token('a'), 'traces', 1, 0)
  metrics.throttled(token('a'), 'traces', 'all.second.requests', 0)
  metrics.clientAborted('http')
  metrics.inFlightBytes('grpc').value += 10
  for (const { name, labels } of metrics.report().cells) {
    expect(Object.keys(labels), name).toEqual([...instruments[name].labels])
  }
})
