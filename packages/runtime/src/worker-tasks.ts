import { parentPort } from 'node:worker_threads'

/** A message to a worker thread: a task, or the request for the next part of its result. */
export type ToWorker<Task> = { readonly task: Task } | 'next'

/** A message from a worker thread: that its modules are loaded, one part of a result, its end, or a failure. */
export type FromWorker<Part> =
  | { readonly isReady: true }
  | { readonly part: Part }
  | { readonly failure: string }
  | { readonly isDone: true }

/**
 * Serves the tasks of a `WorkerPool` in this worker thread, one at a time.
 *
 * @param handle yields the parts of a result. An error that it throws fails the task and reaches the caller only as
 *   text, so it must yield expected failures as parts.
 */
export function serveTasks<Task, Part>(handle: (task: Task) => Iterable<Part> | AsyncIterable<Part>): void {
  const port = parentPort
  if (port === null) throw new Error('This module runs in a worker thread')
  let parts: Iterator<Part> | AsyncIterator<Part> | undefined
  port.on('message', async (message: ToWorker<Task>) => {
    port.postMessage(await step(message))
  })
  port.postMessage({ isReady: true } satisfies FromWorker<Part>)

  async function step(message: ToWorker<Task>): Promise<FromWorker<Part>> {
    try {
      if (message !== 'next') parts = iteratorOf(handle(message.task))
      const { done, value } = await parts!.next()
      if (done !== true) return { part: value }
      parts = undefined
      return { isDone: true }
    } catch (error) {
      parts = undefined
      return { failure: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown' }
    }
  }
}

function iteratorOf<Part>(parts: Iterable<Part> | AsyncIterable<Part>): Iterator<Part> | AsyncIterator<Part> {
  return Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]()
}
