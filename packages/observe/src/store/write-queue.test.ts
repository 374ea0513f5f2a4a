import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { numberedTrace, toTraceId } from '../telemetry.harness.ts'
import { countRows } from './arrival.ts'
import type { ReceivedRequest } from './received-request.ts'
import { WriteQueue } from './write-queue.ts'

const limits = { maxBodyBytes: 64 * 1024 * 1024, maxElements: 500_000 }

const traces = (wire: Uint8Array): Pick<ReceivedRequest, 'signal' | 'encoding' | 'coding' | 'wire'> => {
  return { signal: 'traces', encoding: 'json', coding: 'gzip', wire: gzipSync(wire) }
}
const small = traces(numberedTrace(1))

/** Returns a body of more than 1 MiB with this number of spans. */
function large(count: number) {
  const spans = Array.from({ length: count }, (_, index) => {
    return { traceId: toTraceId(1), spanId: (index + 1).toString(16).padStart(16, '0'), name: 'x'.repeat(150) }
  })
  return traces(Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })))
}

/** Puts requests into a queue and writes it empty. Returns the order of their receipts, and the rows of each batch. */
function drained(...requests: readonly { readonly name: string; readonly received: ReceivedRequest }[]) {
  const queue = new WriteQueue(limits)
  const order: string[] = []
  const batches: number[] = []
  for (const { name, received } of requests) queue.add(received, ({ kind }) => order.push(`${name} ${kind}`))
  while (!queue.isEmpty) {
    const batch = queue.nextBatch(0n)
    if (batch.length > 0) batches.push(batch.reduce((rows, { arrival }) => rows + countRows(arrival), 0))
    for (const { written } of batch) written()
  }
  return { order, batches }
}

test('large requests are written in slices, two at a time, and small ones do not wait for them', () => {
  const from = (sender: string | undefined, name: string, received: typeof small) => ({
    name: `${name} of ${sender}`,
    received: { ...received, sender },
  })
  const { order, batches } = drained(
    from('a', 'first', large(11_000)),
    from('a', 'second', large(5_100)),
    from('b', 'large', large(5_100)),
    from('c', 'large', large(5_100)),
    ...['a', 'b', 'c', undefined].map((sender) => from(sender, 'small', small)),
  )
  expect(order).toEqual([
    'small of a kept',
    'small of b kept',
    'small of c kept',
    'small of undefined kept',
    'large of b kept',
    'first of a kept',
    'large of c kept',
    'second of a kept',
  ])
  expect(Math.max(...batches)).toBeLessThanOrEqual(10_004)
})

test('a short request with many rows is written in slices too', () => {
  const logRecords = Array.from({ length: 21_000 }, () => ({}))
  const wire = gzipSync(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
  const logs = { signal: 'logs', encoding: 'json', coding: 'gzip', wire } as const
  const { order, batches } = drained({ name: 'many', received: logs }, { name: 'one', received: small })
  expect(order).toEqual(['one kept', 'many kept'])
  expect(batches.slice(0, 3)).toEqual([1, 5_000, 5_000])
})

test('a large request is decoded in several batches, and small ones are written in between', () => {
  const queue = new WriteQueue(limits)
  const kept: string[] = []
  queue.add({ ...large(50_000), sender: 'a' }, ({ kind }) => kept.push(`large ${kind}`))
  const rows: number[] = []
  while (!queue.isEmpty && rows.every((count) => count <= 1)) {
    queue.add({ ...small, sender: 'b' }, ({ kind }) => kept.push(`small ${kind}`))
    const batch = queue.nextBatch(0n)
    rows.push(batch.reduce((sum, { arrival }) => sum + countRows(arrival), 0))
    for (const { written } of batch) written()
  }
  // One step reads the JSON, and each of three decodes at most 20,000 spans.
  expect(rows).toEqual([1, 1, 1, 1, 1, 5_001])
  expect(new Set(kept)).toEqual(new Set(['small kept']))
})

test('senders with few requests do not wait for one with many', () => {
  const many = Array.from({ length: 50 }, () => ({ name: 'a', received: { ...small, sender: 'a' } }))
  const { order } = drained(...many, { name: 'b', received: { ...small, sender: 'b' } })
  expect(order.indexOf('b kept')).toBeLessThan(3)
})

test('a slice that cannot be written ends its request', () => {
  const queue = new WriteQueue(limits)
  const receipts: string[] = []
  queue.add(large(11_000), ({ kind }) => receipts.push(kind))
  let batch = queue.nextBatch(0n)
  while (batch.length === 0) batch = queue.nextBatch(0n)
  for (const { failed } of batch) failed({ kind: 'unavailable', text: 'no' })
  expect(queue.nextBatch(0n)).toEqual([])
  expect({ receipts, isEmpty: queue.isEmpty }).toEqual({ receipts: ['unavailable'], isEmpty: true })
})
