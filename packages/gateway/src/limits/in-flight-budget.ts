import { ArrivingBody, type ArrivingBodyOwner, STEP_BYTES } from '../contract/arriving-body.ts'

/** The share of the whole budget that one token may hold. */
const TOKEN_SHARE = 0.25

/**
 * Limits the bytes of bodies in flight, in total and per token. A body reserves what has arrived, not what its client
 * has announced.
 *
 * When the budget or the share of a token is full, the body with the least progress is refused, so that the others can be
 * completed. Only a body that is still arriving can be refused. If the only body of a token exceeds the share, it is accepted; otherwise that
 * body could never pass. Requests without a token count only towards the total.
 */
export class InFlightBudget {
  readonly #totalBytes: number
  readonly #tokenBytes: number
  readonly #monotonicMs: () => number
  readonly #heldByToken = new Map<string, number>()
  /** The bodies that can be refused, oldest first. */
  readonly #arriving = new Set<ArrivingBody>()
  #heldBytes = 0

  constructor(totalBytes: number, monotonicMs: () => number) {
    this.#totalBytes = totalBytes
    this.#tokenBytes = totalBytes * TOKEN_SHARE
    this.#monotonicMs = monotonicMs
  }

  get inFlightBytes(): number {
    return this.#heldBytes
  }

  /** Returns whether a body of this length may begin to arrive: it fits into the budget, and a step is free or can be freed. */
  mayBegin(declaredBytes: number): boolean {
    if (this.#heldBytes + declaredBytes <= this.#totalBytes) return true
    if (declaredBytes > this.#totalBytes) return false
    return this.#arriving.size > 0 || this.#heldBytes + STEP_BYTES <= this.#totalBytes
  }

  /** Reserves the bytes of a whole body and returns true, or reserves nothing and returns false. */
  reserve(tokenId: string | undefined, bytes: number): boolean {
    while (!this.#fits(tokenId, bytes, 0)) {
      const least = this.#leastProgress(this.#isTotalFull(bytes) ? undefined : tokenId, undefined)
      if (least === undefined) return false
      this.#refuse(least)
    }
    this.#hold(tokenId, bytes)
    return true
  }

  /**
   * Begins to reserve memory for a body that arrives in pieces.
   *
   * @param reservedBytes what is reserved for it already
   */
  begin(
    tokenId: string | undefined,
    expectedBytes: number,
    reservedBytes: number,
    owner: ArrivingBodyOwner,
  ): ArrivingBody {
    const body = new ArrivingBody(tokenId, expectedBytes, reservedBytes, owner, this.#monotonicMs())
    this.#arriving.add(body)
    return body
  }

  /**
   * Reserves memory for bytes of a body that have arrived. Returns the number of bytes reserved, or `undefined` if the body must be
   * refused itself.
   */
  grow(body: ArrivingBody, arrivedBytes: number): number | undefined {
    const bytes = body.add(arrivedBytes, this.#monotonicMs)
    if (bytes === 0) return 0
    const { tokenId } = body
    while (!this.#fits(tokenId, bytes, body.reservedBytes)) {
      const least = this.#leastProgress(this.#isTotalFull(bytes) ? undefined : tokenId, body)
      if (least === body || least === undefined) return undefined
      this.#refuse(least)
    }
    this.#hold(tokenId, bytes)
    body.reserved(bytes)
    return bytes
  }

  /** Protects a body from being refused: its end has arrived, or it is not read any more. */
  end(body: ArrivingBody): void {
    this.#arriving.delete(body)
  }

  /**
   * Releases bytes that were reserved for the same token. Throws `RangeError` if that many were not reserved.
   */
  release(tokenId: string | undefined, bytes: number): void {
    const held = tokenId === undefined ? this.#heldBytes : (this.#heldByToken.get(tokenId) ?? 0)
    if (bytes > held) throw new RangeError(`cannot release ${bytes} bytes: only ${held} are reserved`)
    this.#heldBytes -= bytes
    if (tokenId === undefined) return
    if (bytes === held) this.#heldByToken.delete(tokenId)
    else this.#heldByToken.set(tokenId, held - bytes)
  }

  #isTotalFull(bytes: number): boolean {
    return this.#heldBytes + bytes > this.#totalBytes
  }

  /** @param ownBytes what the same body has reserved already */
  #fits(tokenId: string | undefined, bytes: number, ownBytes: number): boolean {
    if (this.#isTotalFull(bytes)) return false
    if (tokenId === undefined) return true
    const held = this.#heldByToken.get(tokenId) ?? 0
    return held === ownBytes || held + bytes <= this.#tokenBytes
  }

  #hold(tokenId: string | undefined, bytes: number): void {
    if (bytes === 0) return
    this.#heldBytes += bytes
    if (tokenId !== undefined) this.#heldByToken.set(tokenId, (this.#heldByToken.get(tokenId) ?? 0) + bytes)
  }

  /** Returns the body to be refused first, of one token or of all. */
  #leastProgress(tokenId: string | undefined, asking: ArrivingBody | undefined): ArrivingBody | undefined {
    const atMs = this.#monotonicMs()
    let least: ArrivingBody | undefined
    for (const body of this.#arriving) {
      if (tokenId !== undefined && body.tokenId !== tokenId) continue
      if (body !== asking && body.reservedBytes === 0) continue
      if (least === undefined || body.yieldsTo(least, atMs)) least = body
    }
    return least
  }

  #refuse(body: ArrivingBody): void {
    this.#arriving.delete(body)
    body.owner.refuse()
  }
}
