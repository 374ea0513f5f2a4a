import { parentPort } from 'node:worker_threads'

/** A message to a worker thread: a task, or the request for the next part of its result. */
export type ToWorker<Task> = { readonly task: Task } | 'next'

/** A message from a worker thread: one part of a result, its end, or a failure. */
export type FromWorker<Part> = { readonly part: Part } | { readonly failure: string } | { readonly isDone: true }

/**
 * Serves the tasks of a `WorkerPool` in this worker thread, one at a time.
 *
 * @param handle yields the parts of a result. An error that it throws fails the task and reaches the caller only as
 *   text, so it must yield expected failures as parts.
 */
export function serveTasks<Task, Part>(handle: (task: Task) => Iterable<Part>): void {
  const port = parentPort
  if (port === null) throw new Error('This module runs in a worker thread')
  let parts: Iterator<Part> | undefined
  port.on('message', (message: ToWorker<Task>) => {
    port.postMessage(step(message))
  })

  function step(message: ToWorker<Task>): FromWorker<Part> {
    try {
      if (message !== 'next') parts = handle(message.task)[Symbol.iterator]()
      const { done, value } = parts!.next()
      if (done !== true) return { part: value }
      parts = undefined
      return { isDone: true }
    } catch (error) {
      parts = undefined
      return { failure: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown' }
    }
  }
}
