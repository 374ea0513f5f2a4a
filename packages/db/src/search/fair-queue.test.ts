import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { QueueFullError } from '../port/serial-queue.ts'
import { FairQueue, type FairQueueLimits } from './fair-queue.ts'

/** A queue with tasks that end when the test says so. */
function tasks(limits: Partial<FairQueueLimits> = {}) {
  const queue = new FairQueue({ atOnce: 1, monotonicMs: () => 0, ...limits })
  const started: string[] = []
  const ends: (() => void)[] = []
  const start = (name: string) =>
    queue.run(name[0]!, async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.push(resolve))
      return name
    })
  const endNext = async () => {
    while (ends.length === 0) await nextTurn()
    ends.shift()!()
  }
  return { queue, start, started, endNext }
}

test('a subscriber with many tasks delays that of another by one task', async () => {
  const { start, started, endNext } = tasks({ maxWaitingEach: 100 })
  const many = Array.from({ length: 100 }, (_, index) => start(`a${index}`))
  const other = start('b')
  await endNext()
  await endNext()
  await endNext()
  expect(await other).toBe('b')
  expect(started.slice(0, 3)).toEqual(['a0', 'a1', 'b'])
  for (let left = 98; left > 0; left -= 1) await endNext()
  expect(await Promise.all(many)).toHaveLength(100)
})

test('a subscriber with too many tasks is refused, and others are not', async () => {
  const { queue, start, started, endNext } = tasks({ maxWaitingEach: 2, maxWaiting: 3 })
  const accepted = ['a1', 'a2', 'a3'].map(start)
  await expect(start('a4')).rejects.toThrow(QueueFullError)
  const other = start('b1')
  await expect(start('c1')).rejects.toThrow(QueueFullError)
  for (let left = 4; left > 0; left -= 1) await endNext()
  await Promise.all([...accepted, other])
  await queue.drain()
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('a task that has waited for too long is refused, and one that fails lets the next one start', async () => {
  let now = 0
  const { queue, start, started, endNext } = tasks({ waitLimitMs: 10, monotonicMs: () => now })
  const first = start('a1')
  const late = expect(start('b1')).rejects.toThrow(QueueFullError)
  now = 11
  const failing = expect(queue.run('c', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  const last = start('d1')
  await endNext()
  await Promise.all([first, late, failing])
  await endNext()
  expect([await last, started]).toEqual(['d1', ['a1', 'd1']])
})
