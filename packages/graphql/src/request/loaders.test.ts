import { expect, test } from 'vitest'
import { Loaders } from './loaders.ts'

/** Returns a promise that the test settles. */
function deferred<Value>(): { readonly promise: Promise<Value>; readonly settle: (value: Value) => void } {
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

test('loads keys requested at the same time with one call, and each key once', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  const load = doubling(batches)
  expect(await Promise.all([1, 2, 1].map((key) => loaders.load('doubled', key, load)))).toEqual([2, 4, 2])
  expect(batches).toEqual([[1, 2]])
})

test('loads the keys of two paths with one call, even if one path is resolved first', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  const slow = deferred<number[]>()
  const short = loaders.load('short', 1, async (keys) => [...keys])
  const long = loaders.load('long', 3, () => slow.promise)
  const both = [short, long].map(async (first) => loaders.load('doubled', await first, doubling(batches)))
  await short
  setImmediate(() => setImmediate(() => slow.settle([3])))
  expect(await Promise.all(both)).toEqual([2, 6])
  expect(batches).toEqual([[1, 3]])
})

test('waits for other work before the next round, and does it once per source', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  const source = {}
  const page = deferred<number[]>()
  let calls = 0
  const ask = () => {
    calls += 1
    return page.promise
  }
  const pages = [0, 1].map(async (index) => {
    const items = await loaders.loadOnce(source, 'page', ask)
    return loaders.load('doubled', items[index]!, doubling(batches))
  })
  const other = loaders.load('doubled', 7, doubling(batches))
  setImmediate(() => setImmediate(() => page.settle([1, 2])))
  expect(await Promise.all([...pages, other])).toEqual([2, 4, 14])
  expect(batches.map((keys) => keys.toSorted((a, b) => a - b))).toEqual([[1, 2, 7]])
  expect(calls).toBe(1)
})

test('rejects the loads of a failed round, and starts the next round', async () => {
  const loaders = new Loaders()
  const failed = loaders.load('broken', 1, () => Promise.reject(new Error('no')))
  const after = failed.catch(() => loaders.load('doubled', 2, doubling([])))
  await expect(failed).rejects.toThrow('no')
  expect(await after).toBe(4)
})

test('loads a key again after clear()', async () => {
  const loaders = new Loaders()
  const batches: number[][] = []
  await loaders.load('doubled', 1, doubling(batches))
  await loaders.load('doubled', 1, doubling(batches))
  loaders.clear()
  await loaders.load('doubled', 1, doubling(batches))
  expect(batches).toEqual([[1], [1]])
})

test('rejects loads after the deadline without starting them', async () => {
  let isOver = false
  const loaders = new Loaders(() => {
    if (isOver) throw new Error('over')
  })
  const batches: number[][] = []
  const slow = deferred<number[]>()
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
  await expect(loaders.loadOnce({}, 'page', async () => batches.push([3]))).rejects.toThrow('over')
  expect(batches).toEqual([])
})
