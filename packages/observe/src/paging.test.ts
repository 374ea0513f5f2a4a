import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OneThreadStore } from './one-thread-store.harness.ts'
import type { Position } from './paging/cursor.ts'
import { pipelineBody, startNs } from './pipeline.harness.ts'
import type { StoreQuery } from './ports/store-queries.ts'
import { counter, logBody, logRecord, metricBody, toTraceId, traceBody } from './telemetry.harness.ts'

let directory: string
let store: OneThreadStore

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-paging-'))
  store = await OneThreadStore.open({
    file: join(directory, 'observe.db'),
    clock: new ManualClock(1_767_225_600_000),
  })
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

const COUNT = 7

/** Reads a list page by page. */
async function allOf(query: (after: Position | undefined) => StoreQuery) {
  const items: unknown[] = []
  let after: Position | undefined
  do {
    const page = await store.page(query(after))
    expect(page.items.length).toBeLessThanOrEqual(3)
    items.push(...page.items)
    after = page.after
  } while (after !== undefined)
  return items
}

test.each(['shop', undefined])('pages of traces with the same start lose none (service %s)', async (service) => {
  for (let number = 1; number <= COUNT; number += 1) {
    const span = { traceId: toTraceId(number), spanId: 'a'.repeat(16), start: 5 }
    await store.receiveBody('traces', traceBody(span, { ...span, service: 'other', start: 0 }), 'json')
  }
  const traces = await allOf((after) => ({ kind: 'traces', filter: { service, limit: 3, after } }))
  expect(new Set(traces.map((trace) => (trace as { trace_id: string }).trace_id)).size).toBe(COUNT)
  expect(traces).toHaveLength(COUNT)
})

test('pages of log records with the same time lose none', async () => {
  const records = Array.from({ length: COUNT }, (_, index) => logRecord(5, 9, `record ${index}`))
  await store.receiveBody('logs', logBody('shop', ...records), 'json')
  const found = await allOf((after) => ({ kind: 'logRecords', filter: { limit: 3, after } }))
  expect(new Set(found.map((one) => JSON.stringify(one))).size).toBe(COUNT)
  expect(found).toHaveLength(COUNT)
})

test('pages of runs with the same start lose none', async () => {
  for (let number = 1; number <= COUNT; number += 1) {
    await store.receiveBody('traces', pipelineBody({ number, start: startNs }), 'json')
  }
  const runs = await allOf((after) => ({ kind: 'runs', filter: { limit: 3, after } }))
  expect(runs.map((run) => (run as { pipeline_id: string }).pipeline_id).sort()).toEqual([...'1234567'])
})

test('pages of metric names lose none', async () => {
  const metrics = Array.from({ length: COUNT }, (_, index) => ({ ...counter(1, '3'), name: 'm', unit: `u${index}` }))
  await store.receiveBody('metrics', metricBody('shop', ...metrics), 'json')
  const names = await allOf((after) => ({ kind: 'metricNames', filter: { limit: 3, after } }))
  expect(names.map((name) => (name as { unit: string }).unit)).toEqual(metrics.map(({ unit }) => unit))
})

test('a trace has pages, in order of start', async () => {
  const spans = Array.from({ length: COUNT }, (_, index) => ({
    traceId: toTraceId(1),
    spanId: (index + 1).toString(16).padStart(16, '0'),
    start: 5,
  }))
  await store.receiveBody('traces', traceBody(...spans), 'json')
  const found: string[] = []
  let after: Position | undefined
  do {
    const page = await store.page({ kind: 'trace', traceId: toTraceId(1), maxSpans: 3, after })
    for (const { scopeSpans } of page.items) {
      for (const { spans } of scopeSpans) found.push(...spans.map(({ spanId }: { spanId: string }) => spanId))
    }
    after = page.after
  } while (after !== undefined)
  expect(found).toEqual(spans.map(({ spanId }) => spanId))
})
