import type { ByteRegion } from './byte-region.ts'
import type { Message } from './field.ts'
import { protobufWriterOf } from './protobuf-encode.ts'
import { ProtobufWriter, tagOf, varintBytes, WireType } from './protobuf-writer.ts'
import { emptyResource, emptyScope, listNumbers, schema } from './schema.ts'
import type { ItemOf, OtlpRequest, Signal } from './types.ts'
import type { ChunkHeader, Frame, Wire } from './wire.ts'

const RESOURCES = tagOf(listNumbers.resources, WireType.LENGTH_DELIMITED)
const SCOPES = tagOf(listNumbers.scopes, WireType.LENGTH_DELIMITED)
const ITEMS = tagOf(listNumbers.items, WireType.LENGTH_DELIMITED)

const NOTHING = new Uint8Array(0)

export class ProtobufWire implements Wire {
  readonly #writer = new ProtobufWriter()
  /** The writer of frames. It is separate from `#writer`, so that a frame can be closed while `#writer` contains an item. */
  readonly #frameWriter = new ProtobufWriter()

  request<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array {
    return encode(this.#writer, schema[signal].request as Message<OtlpRequest<S>>, request)
  }

  encodeItem<S extends Signal>(signal: S, item: ItemOf[S]): number {
    const writer = this.#writer
    writer.reset()
    itemWriters[signal](writer, item)
    writer.closeMessage(ITEMS, 0)
    return writer.written
  }

  appendItem(region: ByteRegion): void {
    region.append(this.#writer.bytesView())
  }

  /**
   * The body of a chunk. The fields of both groups are in the order of their numbers:
   *
   *     RESOURCES len | resource | SCOPES len | scope | items … | scope schema URL | resource schema URL
   *                     group.before            group.before       group.after        group.after
   */
  frame(signal: Signal, { resource, scope, resourceSchemaUrl, scopeSchemaUrl }: ChunkHeader): Frame {
    const { resourceGroup, scopeGroup } = schema[signal] as (typeof schema)['traces']
    const outer = {
      before: encode(this.#frameWriter, resourceGroup, { resource, scopes: [], schemaUrl: '' }),
      after: encode(this.#frameWriter, resourceGroup, {
        resource: emptyResource,
        scopes: [],
        schemaUrl: resourceSchemaUrl,
      }),
    }
    const inner = {
      before: encode(this.#frameWriter, scopeGroup, { scope, items: [], schemaUrl: '' }),
      after: encode(this.#frameWriter, scopeGroup, { scope: emptyScope, items: [], schemaUrl: scopeSchemaUrl }),
    }
    const scopeGroupBytes = (itemsBytes: number) => inner.before.length + itemsBytes + inner.after.length
    const resourceGroupBytes = (itemsBytes: number) =>
      outer.before.length + messageBytes(scopeGroupBytes(itemsBytes)) + outer.after.length
    return {
      separator: NOTHING,
      after: Buffer.concat([inner.after, outer.after]),
      bodyBytes: (itemsBytes) => messageBytes(resourceGroupBytes(itemsBytes)),
      before: (itemsBytes) => {
        const writer = this.#frameWriter
        writer.reset()
        writer.raw(inner.before)
        writer.varint(scopeGroupBytes(itemsBytes))
        writer.tag(SCOPES)
        writer.raw(outer.before)
        writer.varint(resourceGroupBytes(itemsBytes))
        writer.tag(RESOURCES)
        return writer.bytesView()
      },
    }
  }
}

function encode<T>(writer: ProtobufWriter, message: Message<T>, model: T): Uint8Array {
  writer.reset()
  protobufWriterOf(message)(writer, model)
  return new Uint8Array(writer.bytesView())
}

/** Returns the length of a sub-message as a field of its parent. The three list tags take one byte each. */
function messageBytes(insideBytes: number): number {
  return 1 + varintBytes(insideBytes) + insideBytes
}

const itemWriters = {
  traces: protobufWriterOf(schema.traces.item),
  metrics: protobufWriterOf(schema.metrics.item),
  logs: protobufWriterOf(schema.logs.item),
} as Readonly<Record<Signal, (writer: ProtobufWriter, item: unknown) => void>>
