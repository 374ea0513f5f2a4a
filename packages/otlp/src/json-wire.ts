import type { ByteRegion } from './byte-region.ts'
import type { Message } from './field.ts'
import { jsonTextOf, type MessageText } from './json-encode.ts'
import { JsonAttributes } from './json-encode-attributes.ts'
import { emptyResource, emptyScope, schema } from './schema.ts'
import { signals } from './signals.ts'
import type { ItemOf, OtlpRequest, Signal } from './types.ts'
import type { ChunkHeader, Frame, Wire } from './wire.ts'

const COMMA = Buffer.from(',')

export class JsonWire implements Wire {
  readonly #attributes = new JsonAttributes()
  #itemText = ''
  #itemBytes = 0

  request<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array {
    return utf8(jsonTextOf(schema[signal].request as Message<OtlpRequest<S>>)(request, this.#attributes))
  }

  encodeItem<S extends Signal>(signal: S, item: ItemOf[S]): number {
    this.#itemText = itemTexts[signal](item, this.#attributes)
    this.#itemBytes = Buffer.byteLength(this.#itemText)
    return this.#itemBytes
  }

  appendItem(region: ByteRegion): void {
    const at = region.claim(this.#itemBytes)
    region.buffer.write(this.#itemText, at)
  }

  frame(signal: Signal, { resource, scope, resourceSchemaUrl, scopeSchemaUrl }: ChunkHeader): Frame {
    const { resourceGroup, scopeGroup } = schema[signal] as (typeof schema)['traces']
    const textOf = <T>(message: Message<T>, model: T) => jsonTextOf(message)(model, this.#attributes)
    const { json } = signals[signal]
    const [outerOpen, outerClose] = enclosingText(
      json.scopes,
      textOf(resourceGroup, { resource, scopes: [], schemaUrl: '' }),
      textOf(resourceGroup, { resource: emptyResource, scopes: [], schemaUrl: resourceSchemaUrl }),
    )
    const [innerOpen, innerClose] = enclosingText(
      json.items,
      textOf(scopeGroup, { scope, items: [], schemaUrl: '' }),
      textOf(scopeGroup, { scope: emptyScope, items: [], schemaUrl: scopeSchemaUrl }),
    )
    const before = utf8(`{"${json.resources}":[${outerOpen}${innerOpen}`)
    const after = utf8(`${innerClose}${outerClose}]}`)
    return {
      separator: COMMA,
      after,
      before: () => before,
      bodyBytes: (itemsBytes) => before.length + itemsBytes + after.length,
    }
  }
}

/**
 * Returns the text before and after the elements of the list `name` in an object that has the members of `head`, then
 * the list, then the members of `tail`. `head` and `tail` are JSON objects; `{}` has no members.
 */
function enclosingText(name: string, head: string, tail: string): [open: string, close: string] {
  const membersBefore = head === '{}' ? '{' : `${head.slice(0, -1)},`
  const membersAfter = tail === '{}' ? '}' : `,${tail.slice(1)}`
  return [`${membersBefore}"${name}":[`, `]${membersAfter}`]
}

function utf8(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text))
}

const itemTexts = {
  traces: jsonTextOf(schema.traces.item),
  metrics: jsonTextOf(schema.metrics.item),
  logs: jsonTextOf(schema.logs.item),
} as Readonly<Record<Signal, MessageText<unknown>>>
