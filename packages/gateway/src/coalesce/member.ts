import type { Answer } from '../contract/answer.ts'
import type { ExportCall } from '../contract/export-call.ts'
import { clientGone } from '../contract/gateway-answers.ts'

/** One body in the coalescer, until it is answered. */
export class Member {
  readonly call: ExportCall
  /** The body as it arrived, in its content encoding. */
  readonly body: Uint8Array
  readonly deadlineMs: number
  /** The uncompressed body, set once it is known to consist of records only. */
  records: Uint8Array | undefined = undefined
  /** The batch that the body is sent in. */
  batch: { memberSettled(): void } | undefined = undefined
  isSettled = false
  readonly #resolve: (answer: Answer) => void
  readonly #onSettled: () => void

  constructor(
    call: ExportCall,
    body: Uint8Array,
    deadlineMs: number,
    resolve: (answer: Answer) => void,
    onSettled: () => void,
  ) {
    this.call = call
    this.body = body
    this.deadlineMs = deadlineMs
    this.#resolve = resolve
    this.#onSettled = onSettled
    call.onClientGone = () => this.settle(clientGone)
  }

  /** Resolves the member with its answer. Only the first call has an effect. */
  settle(answer: Answer): void {
    if (this.isSettled) return
    this.isSettled = true
    this.call.onClientGone = undefined
    this.#resolve(answer)
    this.#onSettled()
    this.batch?.memberSettled()
  }
}
