/** The unit in which a body that arrives in pieces reserves memory. */
export const STEP_BYTES = 16 * 1024
/** A body that has not completed a step for this long has stalled. As long as the shortest wait that a refused client is given. */
const STALLED_MS = 2_000

/** Receives the body, and can still refuse it. */
export interface ArrivingBodyOwner {
  /** Whether the gateway itself has paused reading. */
  readonly isPaused: boolean
  /** Refuses the body, and releases everything that is reserved for it. */
  refuse(): void
}

/** A body that is still arriving, and the memory that is reserved for what has arrived. */
export class ArrivingBody {
  readonly tokenId: string | undefined
  readonly owner: ArrivingBodyOwner
  /** The declared length; without a declaration, the highest length that is accepted. */
  readonly #expectedBytes: number
  #arrivedBytes: number
  #reservedBytes: number
  /** The monotonic time at which the last step was reserved. */
  #steppedAtMs: number

  /** @param reservedBytes the bytes that have arrived already, for which memory is reserved */
  constructor(
    tokenId: string | undefined,
    expectedBytes: number,
    reservedBytes: number,
    owner: ArrivingBodyOwner,
    atMs: number,
  ) {
    this.tokenId = tokenId
    this.owner = owner
    this.#expectedBytes = expectedBytes
    this.#arrivedBytes = reservedBytes
    this.#reservedBytes = reservedBytes
    this.#steppedAtMs = atMs
  }

  get reservedBytes(): number {
    return this.#reservedBytes
  }

  /** Adds bytes that have arrived. Returns by how much the reservation must grow; 0 within a step. */
  add(bytes: number, monotonicMs: () => number): number {
    this.#arrivedBytes += bytes
    if (this.#arrivedBytes <= this.#reservedBytes) return 0
    this.#steppedAtMs = monotonicMs()
    const steps = Math.ceil(this.#arrivedBytes / STEP_BYTES) * STEP_BYTES
    return Math.max(this.#arrivedBytes, Math.min(steps, this.#expectedBytes)) - this.#reservedBytes
  }

  /** Records that the reservation has grown. */
  reserved(bytes: number): void {
    this.#reservedBytes += bytes
  }

  /** The bytes that are reserved beyond those that have arrived. */
  get surplusBytes(): number {
    return Math.max(0, this.#reservedBytes - this.#arrivedBytes)
  }

  /**
   * Returns whether this body is refused before `other`, which began earlier. Stalled bodies are refused first, beginning with the one
   * that stalled first; then the body of which the smaller part has arrived, and of equal ones the younger one.
   */
  yieldsTo(other: ArrivingBody, atMs: number): boolean {
    const isStalled = this.#isStalled(atMs)
    if (isStalled !== other.#isStalled(atMs)) return isStalled
    return isStalled ? this.#steppedAtMs < other.#steppedAtMs : this.#progress <= other.#progress
  }

  #isStalled(atMs: number): boolean {
    return atMs - this.#steppedAtMs >= STALLED_MS && !this.owner.isPaused
  }

  get #progress(): number {
    return this.#arrivedBytes / this.#expectedBytes
  }
}
