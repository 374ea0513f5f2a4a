import type { TokenRecord } from '../contract/token-record.ts'

export const TOKEN_ID_KEY = 'ingest.token.id'
export const TOKEN_NAME_KEY = 'ingest.token.name'

/** The encoded attributes that are added to each Resource of a body. */
interface OwnerAttributes {
  /** Two `attributes` fields of a Resource message, with tags and lengths. */
  readonly protobuf: Uint8Array
  /** Two elements of the JSON array `attributes`, separated by a comma. */
  readonly json: Uint8Array
}

const attributesByToken = new WeakMap<TokenRecord, OwnerAttributes>()

/** Returns the attributes `ingest.token.id` and `ingest.token.name` of a token. */
export function ownerAttributesOf(token: TokenRecord): OwnerAttributes {
  const cached = attributesByToken.get(token)
  if (cached !== undefined) return cached
  const pairs: [string, string][] = [
    [TOKEN_ID_KEY, token.id],
    [TOKEN_NAME_KEY, token.name.toWellFormed()],
  ]
  const attributes: OwnerAttributes = {
    protobuf: Buffer.concat(pairs.map(([key, value]) => lengthDelimited(1, keyValue(key, value)))),
    json: Buffer.from(pairs.map(([key, stringValue]) => JSON.stringify({ key, value: { stringValue } })).join(',')),
  }
  attributesByToken.set(token, attributes)
  return attributes
}

/** Encodes a common.v1.KeyValue: {1 key, 2 AnyValue {1 string_value}}. */
function keyValue(key: string, value: string): Buffer {
  return Buffer.concat([
    lengthDelimited(1, Buffer.from(key)),
    lengthDelimited(2, lengthDelimited(1, Buffer.from(value))),
  ])
}

/** Encodes a length-delimited field. Keys and names are short enough that the length fits into a two-byte varint. */
function lengthDelimited(number: number, value: Buffer): Buffer {
  const length = value.length < 0x80 ? [value.length] : [(value.length % 0x80) + 0x80, Math.floor(value.length / 0x80)]
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), value])
}
