import { setImmediate as nextTurn } from 'node:timers/promises'

/** Ends when the last work that was passed to `inOwnTurn` has been done. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Does work that takes milliseconds, such as a diff of two files, in a turn of the event loop of its own. Work of several requests is done one after the
 * other, with the input and output of other requests in between: `setImmediate` alone would do all of it in the same turn.
 */
export function inOwnTurn<Result>(work: () => Result): Promise<Result> {
  const result = last.then(() => nextTurn()).then(work)
  last = result.catch(() => {})
  return result
}
