import type { RatePause } from './forge-requests.ts'

/** The state of the API of one source, as this process knows it. All times are monotonic. */
export class SourceState {
  readonly pause: RatePause = { untilMs: Number.NEGATIVE_INFINITY }
  #refused: { readonly reason: string; readonly untilMs: number } | undefined
  /** Whether the stored state says that the token is refused; undefined if that is unknown. */
  #isStoredAsRefused: boolean | undefined

  /** Returns why the token was refused a short time ago; `undefined` if it is worth a request. */
  refusal(nowMs: number): string | undefined {
    return this.#refused !== undefined && nowMs < this.#refused.untilMs ? this.#refused.reason : undefined
  }

  refuse(reason: string, untilMs: number): void {
    this.#refused = { reason, untilMs }
  }

  /** Returns whether the state must be stored, because it is another one than the stored one. */
  changes(isRefused: boolean): boolean {
    if (!isRefused) this.#refused = undefined
    const isChanged = this.#isStoredAsRefused !== isRefused
    this.#isStoredAsRefused = isRefused
    return isChanged
  }
}
