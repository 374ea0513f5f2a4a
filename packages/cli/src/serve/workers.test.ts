import cluster from 'node:cluster'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonLog } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Workers } from './workers.ts'

let directory: string
let cannotStart: string
let clock: ManualClock
let lines: string[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-workers-'))
  cannotStart = join(directory, 'cannot-start')
  clock = new ManualClock()
  lines = []
  cluster.setupPrimary({ exec: join(import.meta.dirname, 'worker.harness.mjs') })
})
afterEach(() => {
  for (const pid of pids()) process.kill(pid, 'SIGKILL')
  rmSync(directory, { recursive: true })
})

const pids = () => Object.values(cluster.workers ?? {}).map((worker) => worker!.process.pid!)
const logged = () => lines.map((line) => JSON.parse(line))
const start = (count: number) =>
  Workers.start({
    count,
    env: { CANNOT_START: cannotStart },
    drainTimeoutMs: 20_000,
    clock,
    log: jsonLog({ write: (line) => lines.push(line) }, () => clock.nowMs()),
  })

test('X-15: kills workers that do not drain within their deadlines', async () => {
  const workers = await start(2)
  const hanging = pids()
  let isDrained = false
  const drained = workers.drain(5_000).then(() => {
    isDrained = true
  })
  await clock.advance(34_999)
  expect([isDrained, lines]).toEqual([false, []])
  await clock.advance(1)
  await drained
  expect(logged().map(({ event, pid, after_ms }) => [event, pid, after_ms])).toEqual(
    hanging.map((pid) => ['worker.killed', pid, 35_000]),
  )
  for (const pid of hanging) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('logs why a replacement cannot start, and tries again with growing pauses', async () => {
  const workers = await start(1)
  writeFileSync(cannotStart, '')
  process.kill(pids()[0]!, 'SIGKILL')
  for (const pauseMs of [1_000, 2_000, 4_000]) {
    await clock.untilSleeping()
    expect(clock.wakeTimesMs).toEqual([clock.nowMs() + pauseMs])
    await clock.advance(pauseMs)
  }
  await clock.untilSleeping()
  const unstartable = { event: 'worker.unstartable', reason: 'the store cannot be read' }
  expect(logged().filter(({ event }) => event === 'worker.unstartable')).toMatchObject(Array(3).fill(unstartable))

  rmSync(cannotStart)
  await clock.advance(8_000)
  await expect.poll(() => pids().length).toBe(1)
  expect(workers.planes).toHaveLength(1)
  const drained = workers.drain(0)
  await clock.advance(30_000)
  await drained
})

test('fails to start with the reason of a worker that cannot start', async () => {
  writeFileSync(cannotStart, '')
  await expect(start(2)).rejects.toThrow('the store cannot be read')
  await expect.poll(pids).toEqual([])
})
