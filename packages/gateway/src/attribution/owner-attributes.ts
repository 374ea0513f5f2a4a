import type { TokenRecord } from '../tokens/token-record.ts'

export const TOKEN_ID_KEY = 'ingest.token.id'
export const TOKEN_NAME_KEY = 'ingest.token.name'

/** What is written into each Resource of a body, in both encodings. */
export interface OwnerAttributes {
  /** Two fields `attributes` of a Resource message, tags and lengths included. */
  readonly protobuf: Uint8Array
  /** Two elements of a JSON array `attributes`, with a comma between them. */
  readonly json: Uint8Array
}

const known = new WeakMap<TokenRecord, OwnerAttributes>()

/** The attributes `ingest.token.id` and `ingest.token.name` of a token. */
export function ownerAttributesOf(token: TokenRecord): OwnerAttributes {
  const remembered = known.get(token)
  if (remembered !== undefined) return remembered
  const pairs: [string, string][] = [
    [TOKEN_ID_KEY, token.id],
    [TOKEN_NAME_KEY, token.name.toWellFormed()],
  ]
  const attributes: OwnerAttributes = {
    protobuf: Buffer.concat(pairs.map(([key, value]) => lengthDelimited(1, keyValue(key, value)))),
    json: Buffer.from(pairs.map(([key, stringValue]) => JSON.stringify({ key, value: { stringValue } })).join(',')),
  }
  known.set(token, attributes)
  return attributes
}

/** common.v1.KeyValue {1 key, 2 AnyValue {1 string_value}} */
function keyValue(key: string, value: string): Buffer {
  return Buffer.concat([
    lengthDelimited(1, Buffer.from(key)),
    lengthDelimited(2, lengthDelimited(1, Buffer.from(value))),
  ])
}

/** Keys and names are short: their lengths fit into two bytes of varint. */
function lengthDelimited(number: number, value: Buffer): Buffer {
  const length = value.length < 0x80 ? [value.length] : [(value.length % 0x80) + 0x80, Math.floor(value.length / 0x80)]
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), value])
}
