import { type Arrival, countRows } from './arrival.ts'
import {
  isLarge,
  openReceived,
  openReceivedInSteps,
  type Receipt,
  type ReceivedRequest,
  type RequestLimits,
} from './received-request.ts'

/** The number of rows or bytes after which a batch takes no further small request. */
const ROWS_PER_BATCH = 20_000
const BYTES_PER_BATCH = 4 * 1024 * 1024
/** The number of rows of a large request that one batch takes. */
const ROWS_PER_SLICE = 5_000
/** The number of large requests, of different senders, that are decoded and in memory. */
const OPEN_LARGE_REQUESTS = 2

interface Waiting {
  readonly received: ReceivedRequest
  settle(receipt: Receipt): void
}

/** A large request that is partly decoded or, later, partly written. */
interface Begun {
  readonly waiting: Waiting
  readonly opening: ReturnType<typeof openReceivedInSteps>
  slices: Iterator<Arrival> | undefined
  rejectedSpans: number
}

/** The part of a request that one transaction writes. */
export interface Piece {
  readonly arrival: Arrival
  /** To be called after the transaction. */
  written(): void
  failed(receipt: Receipt): void
}

/** The requests of one sender, each list in order of arrival. */
interface Sender {
  readonly untried: Waiting[]
  readonly large: Waiting[]
  begun: Begun | undefined
}

/**
 * The requests that wait for the writer. Senders take turns, and large requests are written in slices, so that neither many
 * requests nor a large one keep the others waiting.
 */
export class WriteQueue {
  readonly #senders = new Map<string, Sender>()
  readonly #limits: RequestLimits

  constructor(limits: RequestLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#senders.size === 0
  }

  add(received: ReceivedRequest, settle: (receipt: Receipt) => void): void {
    const key = received.sender ?? ''
    const sender = this.#senders.get(key) ?? { untried: [], large: [], begun: undefined }
    this.#senders.set(key, sender)
    sender.untried.push({ received, settle })
  }

  /**
   * Returns what the next transaction writes: small requests of all senders in turn, and a slice of each large request that
   * is decoded. Decodes the others by one step; requests that can never be stored are settled.
   */
  nextBatch(nowNs: bigint): Piece[] {
    const batch: Piece[] = []
    let rows = 0
    let bytes = 0
    for (let isProgressing = true; isProgressing; ) {
      isProgressing = false
      for (const sender of this.#senders.values()) {
        if (rows >= ROWS_PER_BATCH || bytes >= BYTES_PER_BATCH) break
        const small = this.#takeSmall(sender, nowNs)
        if (small === undefined) continue
        isProgressing = true
        batch.push(small.piece)
        rows += countRows(small.piece.arrival)
        bytes += small.bytes
      }
      if (rows >= ROWS_PER_BATCH || bytes >= BYTES_PER_BATCH) break
    }
    for (const sender of this.#senders.values()) {
      const slice = this.#takeSlice(sender, nowNs)
      if (slice !== undefined) batch.push(slice)
    }
    this.#rotate()
    return batch
  }

  /** Moves the first sender to the end, and removes senders without requests. */
  #rotate(): void {
    const [first] = this.#senders
    if (first === undefined) return
    this.#senders.delete(first[0])
    this.#senders.set(...first)
    for (const [key, { untried, large, begun }] of this.#senders) {
      if (untried.length + large.length === 0 && begun === undefined) this.#senders.delete(key)
    }
  }

  #takeSmall({ untried, large }: Sender, nowNs: bigint): { readonly piece: Piece; readonly bytes: number } | undefined {
    for (let waiting = untried.shift(); waiting !== undefined; waiting = untried.shift()) {
      const { received, settle } = waiting
      const opened = isLarge(received) ? undefined : openReceived(received, this.#limits, nowNs)
      if (opened === undefined || ('rows' in opened && opened.rows > ROWS_PER_BATCH)) {
        large.push(waiting)
        continue
      }
      if ('kind' in opened) {
        settle(opened)
        continue
      }
      const arrival = opened.slices(Number.POSITIVE_INFINITY).next().value ?? emptyArrival
      const written = () => settle(keptReceipt(arrival.rejectedSpans))
      return { piece: { arrival, written, failed: settle }, bytes: opened.bodyBytes }
    }
    return undefined
  }

  #takeSlice(sender: Sender, nowNs: bigint): Piece | undefined {
    if (sender.begun === undefined) this.#begin(sender, nowNs)
    const { begun } = sender
    if (begun === undefined) return undefined
    if (begun.slices === undefined) {
      openFurther(sender, begun)
      return undefined
    }
    const { value: arrival, done } = begun.slices.next()
    if (done) {
      sender.begun = undefined
      begun.waiting.settle(keptReceipt(begun.rejectedSpans))
      return undefined
    }
    begun.rejectedSpans += arrival.rejectedSpans
    return {
      arrival,
      written: () => {},
      failed: (receipt) => {
        sender.begun = undefined
        begun.waiting.settle(receipt)
      },
    }
  }

  #begin(sender: Sender, nowNs: bigint): void {
    const open = [...this.#senders.values()].filter(({ begun }) => begun !== undefined).length
    if (open >= OPEN_LARGE_REQUESTS) return
    const waiting = sender.large.shift()
    if (waiting === undefined) return
    const opening = openReceivedInSteps(waiting.received, this.#limits, nowNs)
    sender.begun = { waiting, opening, slices: undefined, rejectedSpans: 0 }
  }
}

/** Decodes the next part of a large request, and ends it if it can never be stored. */
function openFurther(sender: Sender, begun: Begun): void {
  const { done, value: opened } = begun.opening.next()
  if (!done) return
  if ('kind' in opened) {
    sender.begun = undefined
    begun.waiting.settle(opened)
  } else begun.slices = opened.slices(ROWS_PER_SLICE)
}

const emptyArrival: Arrival = { spans: [], logRecords: [], points: [], rejectedSpans: 0 }

function keptReceipt(rejectedSpans: number): Receipt {
  if (rejectedSpans === 0) return { kind: 'kept', partialSuccess: undefined }
  const message = 'spans without trace id or span id belong to no trace'
  return { kind: 'kept', partialSuccess: { rejected: BigInt(rejectedSpans), message } }
}
