import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OneThreadStore } from '../one-thread-store.harness.ts'
import { jobSpanId, pipelineBody, pipelineTraceId } from '../pipeline.harness.ts'
import { openStoreFile } from '../store/store-writer.ts'
import { numberedTrace, toTraceId, traceBody } from '../telemetry.harness.ts'

let directory: string
let file: string
let store: OneThreadStore

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-search-'))
  file = join(directory, 'observe.db')
  store = await OneThreadStore.open({ file, clock: new ManualClock(1_767_225_600_000) })
  const jobs = [
    { name: 'unit', start: 0, end: 9 },
    { name: 'deploy "é"', start: 9, end: 20, status: 'failed' },
  ]
  await store.receiveBody('traces', pipelineBody({ number: 1, attributes: { 'pipeline.ref': 'main' }, jobs }), 'json')
  await store.receiveBody('traces', pipelineBody({ number: 2, service: 'other-ci' }), 'json')
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

const found = async (filter: Omit<Parameters<OneThreadStore['queries']['traces']>[0], 'limit'>) =>
  (await store.queries.traces({ limit: 10, ...filter })).map(({ trace_id }) => trace_id)
const attributes = (...pairs: [string, string][]) => ({ attributes: pairs.map(([key, value]) => ({ key, value })) })

test.each([
  { filter: attributes(['pipeline.ref', 'main']), numbers: [1] },
  { filter: attributes(['cicd.pipeline.name', 'shop']), numbers: [2, 1] },
  { filter: attributes(['cicd.pipeline.task.name', 'deploy "é"']), numbers: [1] },
  { filter: attributes(['job.status', 'failed'], ['cicd.pipeline.task.name', 'deploy "é"']), numbers: [1] },
  { filter: attributes(['service.name', 'other-ci'], ['cicd.pipeline.run.id', '2']), numbers: [2] },
  // Both are in the trace, but no span has both.
  { filter: attributes(['job.status', 'failed'], ['cicd.pipeline.task.name', 'unit']), numbers: [] },
  { filter: attributes(['pipeline.ref', 'mai']), numbers: [] },
  { filter: { ...attributes(['cicd.pipeline.name', 'shop']), service: 'ci' }, numbers: [1] },
])('attributes select traces: $filter', async ({ filter, numbers }) => {
  expect(await found(filter)).toEqual(numbers.map(pipelineTraceId))
})

test('spans that arrive later, also after the attributes were unknown, are found', async () => {
  const late = {
    resourceSpans: [
      {
        resource: {},
        scopeSpans: [
          {
            spans: [
              {
                traceId: pipelineTraceId(2),
                spanId: jobSpanId(2, 9),
                name: 'late',
                startTimeUnixNano: '1767225700000000000',
                attributes: [{ key: 'attempt', value: { intValue: '9007199254740993' } }],
              },
            ],
          },
        ],
      },
    ],
  }
  const filter = attributes(['attempt', '9007199254740993'])
  expect(await found(filter)).toEqual([])
  await store.receiveBody('traces', Buffer.from(JSON.stringify(late)), 'json')
  expect(await found(filter)).toEqual([pipelineTraceId(2)])
  const db = openStoreFile(file)
  await db.write((tx) => tx.deleteFrom('trace_attributes').execute())
  await db.close()
  expect(await found(filter)).toEqual([pipelineTraceId(2)])
  await store.receiveBody('traces', pipelineBody({ number: 2, attributes: { again: 'yes' } }), 'json')
  expect(await found(filter)).toEqual([pipelineTraceId(2)])
  expect(await found(attributes(['again', 'yes']))).toEqual([pipelineTraceId(2)])
})

test('duration and errors select traces', async () => {
  await store.receiveBody('traces', numberedTrace(3, { start: 100, end: 103 }), 'json')
  await store.receiveBody('traces', numberedTrace(4, { start: 200, end: 201, failed: true }), 'json')
  expect(await found({ minDurationNs: 3_000_000_000n, service: 'shop' })).toEqual([toTraceId(3)])
  expect(await found({ minDurationNs: 3_000_000_001n, service: 'shop' })).toEqual([])
  expect(await found({ minDurationNs: 60_000_000_000n })).toEqual([pipelineTraceId(2), pipelineTraceId(1)])
  expect(await found({ hasErrors: true })).toEqual([toTraceId(4)])
})

test('a search that has read enough spans continues with its cursor', async () => {
  const noise = Array.from({ length: 110 }, (_, trace) =>
    traceBody(
      ...Array.from({ length: 200 }, (_, span) => ({
        traceId: toTraceId(trace + 10),
        spanId: (span + 1).toString(16).padStart(16, '0'),
        start: 1_000 + trace,
        end: 1_100,
      })),
    ),
  )
  for (const body of noise) await store.receiveBody('traces', body, 'json')
  const db = openStoreFile(file)
  await db.write((tx) => tx.updateTable('trace_attributes').set({ pairs: null }).execute())
  await db.close()
  const filter = { ...attributes(['pipeline.ref', 'main']), limit: 5 }
  const first = await store.page({ kind: 'traces', filter })
  expect(first.items).toEqual([])
  const second = await store.page({ kind: 'traces', filter: { ...filter, after: first.after } })
  expect(second.items).toMatchObject([{ trace_id: pipelineTraceId(1) }])
})
