import type { InstrumentationScope, ItemBySignal, OtlpRequest, Resource, Signal } from '../model/types.ts'
import type { ByteRegion } from './byte-region.ts'

/** The parts around the items of a chunk: one resource, one scope, and the URLs of their schemas. */
export interface ChunkHeader {
  readonly resource: Resource
  readonly scope: InstrumentationScope
  readonly resourceSchemaUrl: string
  readonly scopeSchemaUrl: string
}

/** Writes requests in one encoding, whole or item by item. Implemented by `ProtobufWire` and `JsonWire`. */
export interface Wire {
  /** Returns the body of a request in new memory. */
  request<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array
  frame(signal: Signal, header: ChunkHeader): Frame
  /** Encodes one item of the innermost list for `appendItem`, and returns its length in bytes. */
  encodeItem<S extends Signal>(signal: S, item: ItemBySignal[S]): number
  /** Appends the last encoded item. */
  appendItem(region: ByteRegion): void
}

/** A request without its items: `before`, then the items with separators, then `after`. */
export interface Frame {
  readonly separator: Uint8Array
  readonly after: Uint8Array
  /** Returns the bytes before the items. In protobuf they contain lengths that depend on `itemsBytes`, which includes separators. */
  before(itemsBytes: number): Uint8Array
  /** Returns the length of the whole body. */
  bodyBytes(itemsBytes: number): number
}
