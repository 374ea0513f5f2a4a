import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Runs a handler of requests, and knows which calls are not done yet, including those of clients that have gone. */
export class RunningHandlers {
  readonly #handler: RequestListener
  readonly #running = new Set<Promise<unknown>>()

  constructor(handler: RequestListener) {
    this.#handler = handler
  }

  run(request: IncomingMessage, response: ServerResponse): void {
    // Its type allows any function, also one that returns a promise. One that does not is done when it returns.
    const result: unknown = this.#handler(request, response)
    if (!(result instanceof Promise)) return
    const done = result.finally(() => this.#running.delete(done))
    this.#running.add(done)
  }

  /** Resolves when no call is running any more, but at most `graceMs` after `abort` has fired. */
  async ended(abort: AbortSignal | undefined, graceMs: number): Promise<void> {
    if (this.#running.size === 0) return
    const ended = new AbortController()
    const all = Promise.allSettled(this.#running).then(() => ended.abort())
    if (abort === undefined) return all
    await Promise.race([all, aborted(abort, ended.signal)])
    if (ended.signal.aborted) return
    await Promise.race([all, sleep(graceMs, undefined, { signal: ended.signal }).catch(() => {})])
    ended.abort()
  }
}

/** Resolves when the signal fires, or when `unless` does. */
const aborted = (signal: AbortSignal, unless: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: unless })
  })
