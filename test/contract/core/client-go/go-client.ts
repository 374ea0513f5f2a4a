import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { preparedPaths } from '../../../interop/prepared.ts'

/** The result of a method of client-go. */
export interface GoOutcome {
  // biome-ignore lint/suspicious/noExplicitAny: tests check the parts that they need
  readonly result: any
  /** The status of the response; 0 if there was none. */
  readonly status: number
  /** The text of the client's error. */
  readonly error?: string
}

/** Calls methods of client-go in another process, one at a time. */
export class GoClient {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: Interface

  constructor(url: string) {
    this.#process = spawn(preparedPaths().goClient, [url], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#process.stdout })
  }

  /**
   * Calls a method such as `AccessRequests.RequestGroupAccess`.
   *
   * @param args its arguments as JSON; options have the names of REST parameters. Those left out are nil.
   */
  async call(token: string, method: string, ...args: readonly unknown[]): Promise<GoOutcome> {
    const answer = once(this.#lines, 'line')
    this.#process.stdin.write(`${JSON.stringify({ token, method, arguments: args })}\n`)
    return JSON.parse((await answer)[0])
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.stdin.end()
    await ended
  }
}
