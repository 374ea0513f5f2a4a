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
  const a = { address: 'a', isGone: () => false }
  const held = () => queue.run(a, () => new Promise<void>((resolve) => ends.push(resolve)))
  const running = [held(), held()]
  const waiting = Array.from({ length: 32 }, () => queue.run(a, async () => Promise.reject(new Error('no'))))
  const settled = Promise.allSettled(waiting)
  await expect(queue.run(a, async () => 1)).rejects.toThrow(TooManyAnswers)
  const other = queue.run({ ...a, address: 'b' }, async () => 'b')
  for (const end of ends) end()
  await Promise.all(running)
  expect((await settled).every(({ status }) => status === 'rejected')).toBe(true)
  expect(await other).toBe('b')
})

test('answers for clients that are gone are not built, and leave their places to others', async () => {
  const { start, started, ends, gone } = builds()
  const running = ['a1', 'a2'].map(start)
  const waiting = Array.from({ length: 32 }, (_, index) => start(`a-waits${index}`))
  const outcomes = Promise.allSettled(waiting)
  const refused = start('a3')
  await expect(refused).rejects.toThrow(TooManyAnswers)
  for (let index = 0; index < 32; index += 1) if (index !== 5) gone.add(`a-waits${index}`)
  const last = start('a4')
  for (const end of ends.splice(0)) end()
  await Promise.all(running)
  await expect.poll(() => ends.length).toBe(2)
  for (const end of ends) end()
  expect(await last).toBe('a4')
  expect(started).toEqual(['a1', 'a2', 'a-waits5', 'a4'])
  expect((await outcomes).map(({ status }) => status).filter((status) => status === 'fulfilled')).toHaveLength(1)
})
