import { expect, test } from 'vitest'
import { BuildQueue, TooManyAnswers } from './build-queue.ts'

/** A queue with builds that end when the test says so. */
function builds() {
  const queue = new BuildQueue()
  const started: string[] = []
  const ends: (() => void)[] = []
  const gone = new Set<string>()
  const start = (name: string) =>
    queue.run({ address: name[0]!, isGone: () => gone.has(name) }, async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.push(resolve))
      return name
    })
  return { start, started, ends, gone }
}

test('one is built at a time, and addresses take turns', async () => {
  const { start, started, ends } = builds()
  const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map(start)
  for (let ended = 0; ended < all.length; ended += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(ended)
    expect(started).toHaveLength(ended + 1)
    ends[ended]!()
  }
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
})

test('a build that fails lets the next one start, and an address may not wait without end', async () => {
  const queue = new BuildQueue()
  const ends: (() => void)[] = []
  const a = { address: 'a', isGone: () => false }
  const held = () => queue.run(a, () => new Promise<void>((resolve) => ends.push(resolve)))
  const running = held()
  const waiting = Array.from({ length: 32 }, () => queue.run(a, async () => Promise.reject(new Error('no'))))
  const settled = Promise.allSettled(waiting)
  await expect(queue.run(a, async () => 1)).rejects.toThrow(TooManyAnswers)
  const other = queue.run({ ...a, address: 'b' }, async () => 'b')
  for (const end of ends) end()
  await running
  expect((await settled).every(({ status }) => status === 'rejected')).toBe(true)
  expect(await other).toBe('b')
})

test('answers for clients that are gone are not built, and leave their places to others', async () => {
  const { start, started, ends, gone } = builds()
  const running = start('a1')
  const waiting = Array.from({ length: 32 }, (_, index) => start(`a-waits${index}`))
  const outcomes = Promise.allSettled(waiting)
  const refused = start('a2')
  await expect(refused).rejects.toThrow(TooManyAnswers)
  for (let index = 0; index < 32; index += 1) if (index !== 5) gone.add(`a-waits${index}`)
  const last = start('a3')
  ends[0]!()
  await running
  for (const index of [1, 2]) {
    await expect.poll(() => ends.length).toBe(index + 1)
    ends[index]!()
  }
  expect(await last).toBe('a3')
  expect(started).toEqual(['a1', 'a-waits5', 'a3'])
  expect((await outcomes).map(({ status }) => status).filter((status) => status === 'fulfilled')).toHaveLength(1)
})
