import { ByteRegion } from '../bytes/byte-region.ts'
import type { ChunkHeader, Frame, Wire } from '../bytes/wire.ts'
import { JsonWire } from '../json/json-wire.ts'
import type { ItemBySignal, OtlpRequest, Signal } from '../model/types.ts'
import { ProtobufWire } from '../protobuf/protobuf-wire.ts'
import type { Encoding } from './encoding.ts'

export interface ChunkLimits {
  /** The number of spans, metrics or log records in one body. */
  readonly maxItems: number
  /** The length of one body in bytes. An item that is longer gets its own body. */
  readonly maxBytes: number
}

/** Limits that common receivers accept: they limit the length of the uncompressed body. */
export const defaultChunkLimits: ChunkLimits = { maxItems: 512, maxBytes: 1024 * 1024 }

export interface EncodedChunk {
  readonly signal: Signal
  readonly encoding: Encoding
  readonly items: number
  /** A complete request. The caller owns the memory. */
  readonly body: Uint8Array
}

/** Accepts items one by one. Each body equals the result of `RequestEncoder.encode` for the same items. */
export interface ChunkWriter<S extends Signal> {
  /** Adds an item. Returns the previous chunk if it was finished because `item` would have exceeded a limit. */
  add(item: ItemBySignal[S]): EncodedChunk | undefined
  /** Returns the last chunk; `undefined` if there are no more items. The writer can then be used again. */
  end(): EncodedChunk | undefined
}

/**
 * Encodes requests, whole or in chunks. It has scratch memory, so create it once and use it again. All returned memory
 * belongs to the caller. Several chunk writers of one encoder may be open at a time.
 */
export class RequestEncoder {
  readonly encoding: Encoding
  readonly #wire: Wire
  readonly #regions = new RegionPool()

  constructor(encoding: Encoding) {
    this.encoding = encoding
    this.#wire = encoding === 'protobuf' ? new ProtobufWire() : new JsonWire()
  }

  /** Encodes the whole request in one body of any length. */
  encode<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array {
    return this.#wire.request(signal, request)
  }

  chunks<S extends Signal>(signal: S, header: ChunkHeader, limits: ChunkLimits = defaultChunkLimits): ChunkWriter<S> {
    return new WireChunkWriter(this.#wire, this.#regions, this.encoding, signal, header, limits)
  }
}

export function encodeRequest<S extends Signal>(signal: S, request: OtlpRequest<S>, encoding: Encoding): Uint8Array {
  return new RequestEncoder(encoding).encode(signal, request)
}

/** The number of bytes by which the four lengths in front of the items of a request may grow with the items. */
const MAX_LENGTH_GROWTH = 40

class WireChunkWriter<S extends Signal> implements ChunkWriter<S> {
  readonly #wire: Wire
  readonly #encoding: Encoding
  readonly #signal: S
  readonly #frame: Frame
  /** The length of a body without items. A body is at most `MAX_LENGTH_GROWTH` longer than this plus its items. */
  readonly #emptyBytes: number
  readonly #limits: ChunkLimits
  readonly #regions: RegionPool
  /** The encoded items of the open chunk, with separators; `undefined` if there are none. */
  #region: ByteRegion | undefined
  #items = 0

  constructor(
    wire: Wire,
    regions: RegionPool,
    encoding: Encoding,
    signal: S,
    header: ChunkHeader,
    limits: ChunkLimits,
  ) {
    this.#wire = wire
    this.#regions = regions
    this.#encoding = encoding
    this.#signal = signal
    this.#frame = wire.frame(signal, header)
    this.#emptyBytes = this.#frame.bodyBytes(0)
    this.#limits = limits
  }

  add(item: ItemBySignal[S]): EncodedChunk | undefined {
    const itemBytes = this.#wire.encodeItem(this.#signal, item)
    const finished = this.#hasRoom(itemBytes) ? undefined : this.end()
    this.#region ??= this.#regions.take()
    if (this.#items > 0) this.#region.append(this.#frame.separator)
    this.#wire.appendItem(this.#region)
    this.#items += 1
    return finished
  }

  end(): EncodedChunk | undefined {
    const region = this.#region
    if (region === undefined) return undefined
    const chunk = {
      signal: this.#signal,
      encoding: this.#encoding,
      items: this.#items,
      body: assemble(this.#frame, region.view()),
    }
    this.#regions.giveBack(region)
    this.#region = undefined
    this.#items = 0
    return chunk
  }

  #hasRoom(itemBytes: number): boolean {
    if (this.#region === undefined) return true
    const { maxItems, maxBytes } = this.#limits
    if (this.#items >= maxItems) return false
    const itemsBytes = this.#region.length + this.#frame.separator.length + itemBytes
    // The exact length is computed only if the estimate is not sufficient.
    return (
      this.#emptyBytes + itemsBytes + MAX_LENGTH_GROWTH <= maxBytes || this.#frame.bodyBytes(itemsBytes) <= maxBytes
    )
  }
}

function assemble(frame: Frame, items: Uint8Array): Uint8Array {
  const before = frame.before(items.length)
  const length = before.length + items.length + frame.after.length
  const body = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer)
  body.set(before)
  body.set(items, before.length)
  body.set(frame.after, before.length + items.length)
  return body
}

const MAX_KEPT_REGIONS = 4
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/** The regions that no writer is using. */
class RegionPool {
  readonly #free: ByteRegion[] = []

  take(): ByteRegion {
    return this.#free.pop() ?? new ByteRegion()
  }

  giveBack(region: ByteRegion): void {
    region.length = 0
    if (this.#free.length < MAX_KEPT_REGIONS && region.capacity <= MAX_KEPT_BYTES) this.#free.push(region)
  }
}
