import type { ByteRegion } from '../bytes/byte-region.ts'
import type { ChunkHeader, Frame, Wire } from '../bytes/wire.ts'
import { signals } from '../model/signals.ts'
import type { ItemBySignal, OtlpRequest, Signal } from '../model/types.ts'
import type { Message } from '../schema/field.ts'
import { JsonWriter } from '../schema/json-writer.ts'
import { emptyResource, emptyScope, schema } from '../schema/schema.ts'
import { getJsonWriter } from './json-encode.ts'

const COMMA = Buffer.from(',')
const EMPTY_OBJECT_BYTES = '{}'.length

export class JsonWire implements Wire {
  readonly #writer = new JsonWriter()
  /** The writer of frames. It is separate from `#writer`, so that a frame can be made while `#writer` contains an item. */
  readonly #frameWriter = new JsonWriter()

  request<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array {
    return encode(this.#writer, schema[signal].request as Message<OtlpRequest<S>>, request)
  }

  encodeItem<S extends Signal>(signal: S, item: ItemBySignal[S]): number {
    const writer = this.#writer
    writer.reset()
    itemWriters[signal](writer, item)
    return writer.written
  }

  appendItem(region: ByteRegion): void {
    region.append(this.#writer.bytesView())
  }

  frame(signal: Signal, { resource, scope, resourceSchemaUrl, scopeSchemaUrl }: ChunkHeader): Frame {
    const { resourceGroup, scopeGroup } = schema[signal] as (typeof schema)['traces']
    const bytesOf = <T>(message: Message<T>, model: T) => encode(this.#frameWriter, message, model)
    const { json } = signals[signal]
    const [outerOpen, outerClose] = enclosing(
      json.scopes,
      bytesOf(resourceGroup, { resource, scopes: [], schemaUrl: '' }),
      bytesOf(resourceGroup, { resource: emptyResource, scopes: [], schemaUrl: resourceSchemaUrl }),
    )
    const [innerOpen, innerClose] = enclosing(
      json.items,
      bytesOf(scopeGroup, { scope, items: [], schemaUrl: '' }),
      bytesOf(scopeGroup, { scope: emptyScope, items: [], schemaUrl: scopeSchemaUrl }),
    )
    const before = Buffer.concat([Buffer.from(`{"${json.resources}":[`), outerOpen, innerOpen])
    const after = Buffer.concat([innerClose, outerClose, Buffer.from(']}')])
    return {
      separator: COMMA,
      after,
      before: () => before,
      bodyBytes: (itemsBytes) => before.length + itemsBytes + after.length,
    }
  }
}

/**
 * Returns the bytes before and after the elements of the list `name` in an object that has the members of `head`, then
 * the list, then the members of `tail`. `head` and `tail` are JSON objects; `{}` has no members.
 */
function enclosing(name: string, head: Uint8Array, tail: Uint8Array): [open: Uint8Array, close: Uint8Array] {
  const comma = head.length === EMPTY_OBJECT_BYTES ? '' : ','
  const after = tail.length === EMPTY_OBJECT_BYTES ? ']' : '],'
  return [
    Buffer.concat([head.subarray(0, -1), Buffer.from(`${comma}"${name}":[`)]),
    Buffer.concat([Buffer.from(after), tail.subarray(1)]),
  ]
}

function encode<T>(writer: JsonWriter, message: Message<T>, model: T): Uint8Array {
  writer.reset()
  getJsonWriter(message)(writer, model)
  return new Uint8Array(writer.bytesView())
}

const itemWriters = {
  traces: getJsonWriter(schema.traces.item),
  metrics: getJsonWriter(schema.metrics.item),
  logs: getJsonWriter(schema.logs.item),
} as Readonly<Record<Signal, (writer: JsonWriter, item: unknown) => void>>
