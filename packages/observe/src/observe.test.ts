import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Observe, openObserve } from './observe.ts'
import { queriesFor } from './one-thread-store.harness.ts'
import type { ObserveLimits } from './store/observe-limits.ts'
import { logBody, logRecord, numberedTrace, toTraceId } from './telemetry.harness.ts'

const MIB = 1024 * 1024

let directory: string
let store: Observe
let lines: { event: string; reason: string }[]

const open = async (limits: Partial<ObserveLimits> = {}) => {
  const log = jsonLog({ write: (line) => void lines.push(JSON.parse(line)) }, () => 0)
  store = await openObserve({ file: join(directory, 'observe.db'), limits, log })
}
const queries = queriesFor((query) => store.answer(query))
const receive = (body: Uint8Array, signal: 'traces' | 'logs' = 'traces') =>
  store.receive({ signal, encoding: 'json', coding: 'identity', wire: new Uint8Array(body) })

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  lines = []
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

test('replaces a thread that runs out of memory, and loses nothing stored', async () => {
  await open({ writerHeapBytes: 32 * MIB })
  expect(await receive(numberedTrace(1))).toMatchObject({ kind: 'kept' })
  const text = 'x'.repeat(100)
  const large = logBody('shop', ...Array.from({ length: 100_000 }, (_, index) => logRecord(index, 9, text)))

  const receipts = await Promise.all([receive(large, 'logs'), receive(numberedTrace(2))])

  expect(receipts).toEqual([
    { kind: 'unavailable', text: 'the embedded store had to be restarted' },
    { kind: 'unavailable', text: 'the embedded store had to be restarted' },
  ])
  expect(lines.map(({ event, reason }) => [event, reason])).toEqual([
    ['observe.thread_ended', expect.stringContaining('memory')],
  ])
  expect(await receive(numberedTrace(3))).toMatchObject({ kind: 'kept' })
  expect((await queries.traces({ limit: 10 })).map(({ trace_id }) => trace_id)).toEqual([toTraceId(3), toTraceId(1)])
})

test('answers unavailable beyond the limit of waiting bodies', async () => {
  await open({ maxWaitingBytes: 1_000 })
  const receipts = await Promise.all([1, 2, 3, 4].map((number) => receive(numberedTrace(number))))
  expect(receipts.map(({ kind }) => kind)).toEqual(['kept', 'kept', 'unavailable', 'unavailable'])
})

test('close waits for requests in progress, and later requests are unavailable', async () => {
  await open()
  const inProgress = [1, 2, 3].map((number) => receive(numberedTrace(number)))
  await store.close()
  expect((await Promise.all(inProgress)).map(({ kind }) => kind)).toEqual(['kept', 'kept', 'kept'])
  expect(await receive(numberedTrace(4))).toMatchObject({ kind: 'unavailable' })
  await open()
  expect(await queries.traces({ limit: 10 })).toHaveLength(3)
})

test('refuses queries beyond the limit of waiting ones, and answers the others', async () => {
  await open({ maxWaitingQueries: 2 })
  const answers = await Promise.allSettled([queries.services(), queries.status(), queries.services()])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(await queries.trace(toTraceId(1), 1)).toBeUndefined()
})

test('throws the error of the database if the file is not a database', async () => {
  await open()
  const file = join(directory, 'text.db')
  writeFileSync(file, 'x'.repeat(4_096))
  await expect(openObserve({ file })).rejects.toMatchObject({ code: 'SQLITE_NOTADB' })
})
