import { afterEach, expect, test } from 'vitest'
import { WorkerPool, type WorkerPoolOptions, WorkersBusyError, WorkerTimeoutError } from './worker-pool.ts'

type Task = { readonly count: number } | 'throw' | 'exit' | 'never' | Uint8Array

/** A worker with the protocol of `serveTasks` in plain JavaScript, because a thread reads no TypeScript. */
const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    let left = 0
    parentPort.postMessage({ isReady: true })
    parentPort.on('message', (message) => {
      if (message === 'next') left -= 1
      else if (message.task === 'throw') return parentPort.postMessage({ failure: 'Error: of the task' })
      else if (message.task === 'exit') process.exit(3)
      else if (message.task === 'never') return
      else left = message.task.count ?? message.task.length
      parentPort.postMessage(left === 0 ? { isDone: true } : { part: left })
    })
  `)}`,
)

let pool: WorkerPool<Task, number>
const open = (options: Partial<WorkerPoolOptions> = {}) => {
  pool = new WorkerPool({ script, threads: 1, maxWaiting: 2, ...options })
}
afterEach(() => pool.close())

test('returns the parts of each result in order', async () => {
  open()
  expect(await Promise.all([pool.run({ count: 3 }), pool.run({ count: 0 })])).toEqual([[3, 2, 1], []])
})

test('receives each part in a separate turn of the event loop', async () => {
  open()
  let turns = 0
  const count = (): void => {
    turns += 1
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  await pool.run({ count: 50 })
  clearImmediate(immediate)
  expect(turns).toBeGreaterThanOrEqual(50)
})

test('transfers a buffer without copying it', async () => {
  open()
  const bytes = new Uint8Array(4)
  expect(await pool.run(bytes, [bytes.buffer])).toEqual([4, 3, 2, 1])
  expect(bytes.length).toBe(0)
})

test('a failing task or a thread that ends rejects only its own task', async () => {
  open({ maxWaiting: 9 })
  const results = await Promise.allSettled([
    pool.run('throw'),
    pool.run({ count: 1 }),
    pool.run('exit'),
    pool.run({ count: 1 }),
  ])
  const outcomes = results.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message))
  expect(outcomes).toEqual([
    'A task failed in its worker thread: Error: of the task',
    [1],
    'A worker thread has ended with code 3',
    [1],
  ])
})

test('rejects a task if the queue is full', async () => {
  open()
  const all = ['never', { count: 1 }, { count: 1 }].map((task) => pool.run(task as Task))
  const outcomes = Promise.allSettled(all)
  await expect(pool.run({ count: 1 })).rejects.toThrow(WorkersBusyError)
  await pool.close()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await expect(pool.run({ count: 1 })).rejects.toThrow(WorkersBusyError)
})

test('ends an idle thread, and starts a new one for the next task', async () => {
  open({ idleMs: 1 })
  expect(await pool.run({ count: 1 })).toEqual([1])
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(await pool.run({ count: 2 })).toEqual([2, 1])
})

test('a task that takes too long is rejected, and the next task runs in a new thread', async () => {
  open({ maxTaskMs: 20, maxWaiting: 2 })
  const late = pool.run('never')
  const next = pool.run({ count: 2 })
  await expect(late).rejects.toThrow(WorkerTimeoutError)
  expect(await next).toEqual([2, 1])
})
