import { expect, test } from 'vitest'
import { BuildQueue, TooManyAnswers } from './build-queue.ts'

/** A queue with builds that end when the test says so. */
function builds() {
  const queue = new BuildQueue()
  const started: string[] = []
  const ends: (() => void)[] = []
  const start = (name: string) =>
    queue.run(name[0]!, async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.push(resolve))
      return name
    })
  return { start, started, ends }
}

test('two are built at a time, and addresses take turns', async () => {
  const { start, started, ends } = builds()
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map(start)
  for (let ended = 0; ended < all.length; ended += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(ended)
    expect(started.length).toBe(Math.min(ended + 2, all.length))
    ends[ended]!()
    await all[
      ['a1', 'a2', 'a3', 'b1', 'a4', 'b2'].map((name) => ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].indexOf(name))[ended]!
    ]
  }
  expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2'])
})

test('a build that fails lets the next one start, and an address may not wait without end', async () => {
  const queue = new BuildQueue()
  const ends: (() => void)[] = []
  const held = () => queue.run('a', () => new Promise<void>((resolve) => ends.push(resolve)))
  const running = [held(), held()]
  const waiting = Array.from({ length: 32 }, () => queue.run('a', async () => Promise.reject(new Error('no'))))
  const settled = Promise.allSettled(waiting)
  await expect(queue.run('a', async () => 1)).rejects.toThrow(TooManyAnswers)
  const other = queue.run('b', async () => 'b')
  for (const end of ends) end()
  await Promise.all(running)
  expect((await settled).every(({ status }) => status === 'rejected')).toBe(true)
  expect(await other).toBe('b')
})
