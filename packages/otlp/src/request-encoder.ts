import type { Encoding } from './encoding.ts'
import { JsonWire } from './json-wire.ts'
import { ProtobufWire } from './protobuf-wire.ts'
import type { ItemOf, OtlpRequest, Signal } from './types.ts'
import type { ChunkHeader, Frame, Wire } from './wire.ts'

export interface ChunkLimits {
  /** Spans, metrics or log records in one body. */
  readonly maxItems: number
  /** Length of one body; a single item beyond it goes alone. */
  readonly maxBytes: number
}

/** As spec/pipeline-telemetry.md section 6.2 advises; receivers limit the body before compression. */
export const defaultChunkLimits: ChunkLimits = { maxItems: 512, maxBytes: 1024 * 1024 }

export interface EncodedChunk {
  readonly signal: Signal
  readonly encoding: Encoding
  readonly items: number
  /** A complete request. The caller owns the memory. */
  readonly body: Uint8Array
}

/** Takes items one by one. Every body is what `RequestEncoder.encode` would make of the same items. */
export interface ChunkWriter<S extends Signal> {
  /** The chunk that was finished because `item` would have broken a limit. */
  add(item: ItemOf[S]): EncodedChunk | undefined
  /** What is left; `undefined` when nothing is. The writer starts afresh. */
  end(): EncodedChunk | undefined
}

/**
 * Encodes requests, whole or in chunks. Holds scratch memory, so keep one per thread of work; everything it returns
 * belongs to the caller. Several chunk writers of one encoder may be open at a time.
 */
export class RequestEncoder {
  readonly encoding: Encoding
  readonly #wire: Wire

  constructor(encoding: Encoding) {
    this.encoding = encoding
    this.#wire = encoding === 'protobuf' ? new ProtobufWire() : new JsonWire()
  }

  /** The whole request in one body, however long. */
  encode<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array {
    return this.#wire.request(signal, request)
  }

  chunks<S extends Signal>(signal: S, header: ChunkHeader, limits: ChunkLimits = defaultChunkLimits): ChunkWriter<S> {
    return new WireChunkWriter(this.#wire, this.encoding, signal, header, limits)
  }
}

export function encodeRequest<S extends Signal>(signal: S, request: OtlpRequest<S>, encoding: Encoding): Uint8Array {
  return new RequestEncoder(encoding).encode(signal, request)
}

const INITIAL_ITEM_BYTES = 64 * 1024

class WireChunkWriter<S extends Signal> implements ChunkWriter<S> {
  readonly #wire: Wire
  readonly #encoding: Encoding
  readonly #signal: S
  readonly #frame: Frame
  readonly #limits: ChunkLimits
  /** The items of the open chunk, encoded, with their separators. */
  #region = Buffer.allocUnsafeSlow(INITIAL_ITEM_BYTES)
  #regionBytes = 0
  #items = 0

  constructor(wire: Wire, encoding: Encoding, signal: S, header: ChunkHeader, limits: ChunkLimits) {
    this.#wire = wire
    this.#encoding = encoding
    this.#signal = signal
    this.#frame = wire.frame(signal, header)
    this.#limits = limits
  }

  add(item: ItemOf[S]): EncodedChunk | undefined {
    const bytes = this.#wire.item(this.#signal, item)
    const { separator } = this.#frame
    const bytesWithItem = this.#regionBytes + separator.length + bytes.length
    const full = this.#items >= this.#limits.maxItems || this.#frame.bodyBytes(bytesWithItem) > this.#limits.maxBytes
    const finished = this.#items > 0 && full ? this.#finish() : undefined
    if (this.#items > 0) this.#append(separator)
    this.#append(bytes)
    this.#items += 1
    return finished
  }

  end(): EncodedChunk | undefined {
    return this.#items === 0 ? undefined : this.#finish()
  }

  #finish(): EncodedChunk {
    const frame = this.#frame
    const before = frame.before(this.#regionBytes)
    const body = new Uint8Array(before.length + this.#regionBytes + frame.after.length)
    body.set(before)
    body.set(this.#region.subarray(0, this.#regionBytes), before.length)
    body.set(frame.after, before.length + this.#regionBytes)
    const chunk = { signal: this.#signal, encoding: this.#encoding, items: this.#items, body }
    this.#regionBytes = 0
    this.#items = 0
    return chunk
  }

  #append(bytes: Uint8Array): void {
    const needed = this.#regionBytes + bytes.length
    if (needed > this.#region.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#region.length * 2))
      this.#region.copy(grown, 0, 0, this.#regionBytes)
      this.#region = grown
    }
    this.#region.set(bytes, this.#regionBytes)
    this.#regionBytes = needed
  }
}
