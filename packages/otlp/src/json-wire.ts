import type { Message } from './field.ts'
import { jsonTextOf } from './json-encode.ts'
import { emptyResource, emptyScope, schema } from './schema.ts'
import { signals } from './signals.ts'
import type { ItemOf, OtlpRequest, Signal } from './types.ts'
import type { ChunkHeader, Frame, Wire } from './wire.ts'

const COMMA = Buffer.from(',')

export class JsonWire implements Wire {
  request<S extends Signal>(signal: S, request: OtlpRequest<S>): Uint8Array {
    return utf8(jsonTextOf(schema[signal].request as Message<OtlpRequest<S>>)(request))
  }

  item<S extends Signal>(signal: S, item: ItemOf[S]): Uint8Array {
    return utf8(itemTexts[signal](item))
  }

  frame(signal: Signal, { resource, scope, resourceSchemaUrl, scopeSchemaUrl }: ChunkHeader): Frame {
    const { resourceGroup, scopeGroup } = schema[signal] as (typeof schema)['traces']
    const { json } = signals[signal]
    const [outerOpen, outerClose] = around(
      json.scopes,
      jsonTextOf(resourceGroup)({ resource, scopes: [], schemaUrl: '' }),
      jsonTextOf(resourceGroup)({ resource: emptyResource, scopes: [], schemaUrl: resourceSchemaUrl }),
    )
    const [innerOpen, innerClose] = around(
      json.items,
      jsonTextOf(scopeGroup)({ scope, items: [], schemaUrl: '' }),
      jsonTextOf(scopeGroup)({ scope: emptyScope, items: [], schemaUrl: scopeSchemaUrl }),
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
 * Opens and closes the object that is `head`'s members, then the list `name`, then `tail`'s members. Both are objects
 * of their own: `{}` when there are no members.
 */
function around(name: string, head: string, tail: string): [open: string, close: string] {
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
} as Readonly<Record<Signal, (item: unknown) => string>>
