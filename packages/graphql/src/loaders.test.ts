import { expect, test } from 'vitest'
import { Loaders } from './loaders.ts'

/** Answers when it is told to. */
function held<Value>(): { readonly promise: Promise<Value>; readonly settle: (value: Value) => void } {
  let settle: (value: Value) => void = () => {}
  const promise = new Promise<Value>((resolve) => {
    settle = resolve
  })
  return { promise, settle }
}

const doubling = (batches: (readonly number[])[]) => async (keys: readonly number[]) => {
  batches.push(keys)
  return keys.map((key) => 2 * key)
}

test('what is wanted at the same time is asked for once, and the same key once', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  const load = doubling(batches)
  expect(await Promise.all([1, 2, 1].map((key) => loaders.load('doubled', key, load)))).toEqual([2, 4, 2])
  expect(batches).toEqual([[1, 2]])
})

test('of two paths to one kind the one that is there first waits for the other', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  const slow = held<number[]>()
  const short = loaders.load('short', 1, async (keys) => [...keys])
  const long = loaders.load('long', 3, () => slow.promise)
  const both = [short, long].map(async (first) => loaders.load('doubled', await first, doubling(batches)))
  await short
  setImmediate(() => setImmediate(() => slow.settle([3])))
  expect(await Promise.all(both)).toEqual([2, 6])
  expect(batches).toEqual([[1, 3]])
})

test('other work is waited for too, and told once to all who ask for it', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  const source = {}
  const page = held<number[]>()
  let asked = 0
  const ask = () => {
    asked += 1
    return page.promise
  }
  const pages = [0, 1].map(async (index) => {
    const items = await loaders.once(source, 'page', ask)
    return loaders.load('doubled', items[index]!, doubling(batches))
  })
  const other = loaders.load('doubled', 7, doubling(batches))
  setImmediate(() => setImmediate(() => page.settle([1, 2])))
  expect(await Promise.all([...pages, other])).toEqual([2, 4, 14])
  expect(batches.map((keys) => keys.toSorted((a, b) => a - b))).toEqual([[1, 2, 7]])
  expect(asked).toBe(1)
})

test('a round that fails is told to those who wanted it, and the next one begins', async () => {
  const loaders = new Loaders()
  const failed = loaders.load('broken', 1, () => Promise.reject(new Error('no')))
  const after = failed.catch(() => loaders.load('doubled', 2, doubling([])))
  await expect(failed).rejects.toThrow('no')
  expect(await after).toBe(4)
})

test('what was loaded before a change is loaded again', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  await loaders.load('doubled', 1, doubling(batches))
  await loaders.load('doubled', 1, doubling(batches))
  loaders.clear()
  await loaders.load('doubled', 1, doubling(batches))
  expect(batches).toEqual([[1], [1]])
})

test('when the time is over, what is wanted is refused, and nothing of it is begun', async () => {
  let isOver = false
  const loaders = new Loaders(() => {
    if (isOver) throw new Error('over')
  })
  const batches: number[][] = []
  const slow = held<number[]>()
  const first = loaders.load('slow', 1, () => slow.promise)
  const other = new Promise((resolve) => setImmediate(resolve)).then(() =>
    loaders.load('doubled', 2, doubling(batches)),
  )
  const refused = expect(other).rejects.toThrow('over')
  setImmediate(() =>
    setImmediate(() => {
      isOver = true
      slow.settle([1])
    }),
  )
  expect(await first).toBe(1)
  await refused
  await expect(loaders.once({}, 'page', async () => batches.push([3]))).rejects.toThrow('over')
  expect(batches).toEqual([])
})
