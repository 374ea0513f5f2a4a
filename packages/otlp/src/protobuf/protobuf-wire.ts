import type { ByteRegion } from '../bytes/byte-region.ts'
import type { ChunkHeader, Frame, Wire } from '../bytes/wire.ts'
import type { InstrumentationScope, ItemBySignal, OtlpRequest, Signal } from '../model/types.ts'
import type { Message } from '../schema/field.ts'
import { ProtobufWriter, toTag, varintBytes, WireType } from '../schema/protobuf-writer.ts'
import { emptyResource, emptyScope, listNumbers, schema } from '../schema/schema.ts'
import { getProtobufWriter } from './protobuf-encode.ts'

const RESOURCES = toTag(listNumbers.resources, WireType.LENGTH_DELIMITED)
const SCOPES = toTag(listNumbers.scopes, WireType.LENGTH_DELIMITED)
const ITEMS = toTag(listNumbers.items, WireType.LENGTH_DELIMITED)

const NOTHING = new Uint8Array(0)

export class ProtobufWire implements Wire {
  readonly #writer = new ProtobufWriter()
  /** The writer of frames. It is separate from `#writer`, so that a frame can be closed while `#writer` contains an item. */
  readonly #frameWriter = new ProtobufWriter()
  /** For each signal, the constant parts of the last frame. Requests of one program usually have the same scope. */
  readonly #lastSurroundings = new Map<Signal, Surroundings>()

  request<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array {
    return encode(this.#writer, schema[signal].request as Message<OtlpRequest<S>>, request)
  }

  encodeItem<S extends Signal>(signal: S, item: ItemBySignal[S]): number {
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
   *           resourceBefore         scopeBefore                after
   */
  frame(signal: Signal, header: ChunkHeader): Frame {
    const { resourceGroup } = groupMessages(signal)
    const { scopeBefore, scopeAfterBytes, after } = this.#surroundings(signal, header)
    const resourceBefore = encode(this.#frameWriter, resourceGroup, {
      resource: header.resource,
      scopes: [],
      schemaUrl: '',
    })
    const scopeGroupBytes = (itemsBytes: number) => scopeBefore.length + itemsBytes + scopeAfterBytes
    const resourceGroupBytes = (itemsBytes: number) =>
      resourceBefore.length + messageBytes(scopeGroupBytes(itemsBytes)) + (after.length - scopeAfterBytes)
    return {
      separator: NOTHING,
      after,
      bodyBytes: (itemsBytes) => messageBytes(resourceGroupBytes(itemsBytes)),
      before: (itemsBytes) => {
        const writer = this.#frameWriter
        writer.reset()
        writer.raw(scopeBefore)
        writer.varint(scopeGroupBytes(itemsBytes))
        writer.tag(SCOPES)
        writer.raw(resourceBefore)
        writer.varint(resourceGroupBytes(itemsBytes))
        writer.tag(RESOURCES)
        return writer.bytesView()
      },
    }
  }

  #surroundings(signal: Signal, { scope, scopeSchemaUrl, resourceSchemaUrl }: ChunkHeader): Surroundings {
    const last = this.#lastSurroundings.get(signal)
    if (
      last?.scope === scope &&
      last.scopeSchemaUrl === scopeSchemaUrl &&
      last.resourceSchemaUrl === resourceSchemaUrl
    ) {
      return last
    }
    const { resourceGroup, scopeGroup } = groupMessages(signal)
    const writer = this.#frameWriter
    const scopeAfter = encode(writer, scopeGroup, { scope: emptyScope, items: [], schemaUrl: scopeSchemaUrl })
    const resourceAfter = encode(writer, resourceGroup, {
      resource: emptyResource,
      scopes: [],
      schemaUrl: resourceSchemaUrl,
    })
    const surroundings = {
      scope,
      scopeSchemaUrl,
      resourceSchemaUrl,
      scopeBefore: encode(writer, scopeGroup, { scope, items: [], schemaUrl: '' }),
      scopeAfterBytes: scopeAfter.length,
      after: Buffer.concat([scopeAfter, resourceAfter]),
    }
    this.#lastSurroundings.set(signal, surroundings)
    return surroundings
  }
}

/** The parts of a frame that depend on the scope and the schema URLs only. */
interface Surroundings {
  readonly scope: InstrumentationScope
  readonly scopeSchemaUrl: string
  readonly resourceSchemaUrl: string
  readonly scopeBefore: Uint8Array
  /** The bytes of the scope schema URL, and after them those of the resource schema URL. */
  readonly after: Uint8Array
  readonly scopeAfterBytes: number
}

/** The messages around the items. Those of all signals have the same fields. */
const groupMessages = (signal: Signal) => schema[signal] as (typeof schema)['traces']

function encode<T>(writer: ProtobufWriter, message: Message<T>, model: T): Uint8Array {
  writer.reset()
  getProtobufWriter(message)(writer, model)
  return new Uint8Array(writer.bytesView())
}

/** Returns the length of a sub-message as a field of its parent. The three list tags take one byte each. */
function messageBytes(insideBytes: number): number {
  return 1 + varintBytes(insideBytes) + insideBytes
}

const itemWriters = {
  traces: getProtobufWriter(schema.traces.item),
  metrics: getProtobufWriter(schema.metrics.item),
  logs: getProtobufWriter(schema.logs.item),
} as Readonly<Record<Signal, (writer: ProtobufWriter, item: unknown) => void>>
