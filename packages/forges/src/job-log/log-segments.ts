/** A part of a log that ends with a carriage return, with a line feed, or with the log. */
export interface LogSegment {
  readonly text: string
  readonly end: 'return' | 'feed' | 'log'
  /** Whether the segment was longer than `MAX_SEGMENT_BYTES`, so that `text` is its beginning. */
  readonly isCut: boolean
}

/** The maximum number of bytes of a segment. Its further bytes are left out. */
export const MAX_SEGMENT_BYTES = 16_384

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** Splits the bytes of a log into segments. It stores at most one segment, and chunks may end anywhere. */
export class LogSegments {
  readonly #receive: (segment: LogSegment) => void
  readonly #bytes = new Uint8Array(MAX_SEGMENT_BYTES)
  readonly #decoder = new TextDecoder()
  #length = 0
  #isCut = false

  constructor(receive: (segment: LogSegment) => void) {
    this.#receive = receive
  }

  add(chunk: Uint8Array): void {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) continue
      this.#store(chunk.subarray(start, at))
      this.#emit(byte === LINE_FEED ? 'feed' : 'return')
      start = at + 1
    }
    this.#store(chunk.subarray(start))
  }

  end(): void {
    if (this.#length > 0) this.#emit('log')
  }

  #store(bytes: Uint8Array): void {
    const free = MAX_SEGMENT_BYTES - this.#length
    if (bytes.length > free) this.#isCut = true
    const kept = bytes.length > free ? bytes.subarray(0, free) : bytes
    this.#bytes.set(kept, this.#length)
    this.#length += kept.length
  }

  #emit(end: LogSegment['end']): void {
    const text = this.#decoder.decode(this.#bytes.subarray(0, this.#length))
    const isCut = this.#isCut
    this.#length = 0
    this.#isCut = false
    this.#receive({ text, end, isCut })
  }
}
