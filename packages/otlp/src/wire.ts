import type { ByteRegion } from './byte-region.ts'
import type { InstrumentationScope, ItemOf, OtlpRequest, Resource, Signal } from './types.ts'

/** What stands around the items of a chunk: one resource, one scope, and where their schemas are. */
export interface ChunkHeader {
  readonly resource: Resource
  readonly scope: InstrumentationScope
  readonly resourceSchemaUrl: string
  readonly scopeSchemaUrl: string
}

/** One encoding's way to write a request, whole or piece by piece. Implemented by `ProtobufWire` and `JsonWire`. */
export interface Wire {
  /** The body of a request, in memory of its own. */
  request<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array
  frame(signal: Signal, header: ChunkHeader): Frame
  /** Encodes one item as it stands in the innermost list, for `appendItem` to take; returns its length in bytes. */
  encodeItem<S extends Signal>(signal: S, item: ItemOf[S]): number
  /** Appends the item that was encoded last. */
  appendItem(region: ByteRegion): void
}

/** A request with a hole where the items go: `before`, items with a separator between them, `after`. */
export interface Frame {
  readonly separator: Uint8Array
  readonly after: Uint8Array
  /** In protobuf the lengths in front depend on what follows; `itemsBytes` counts separators too. */
  before(itemsBytes: number): Uint8Array
  /** Length of the whole body. */
  bodyBytes(itemsBytes: number): number
}
