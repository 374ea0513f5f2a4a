/** An attribute that a trace is searched for: its key, and its value as text. */
export interface AttributeFilter {
  readonly key: string
  readonly value: string
}

/** Longer values cannot be searched for. */
export const MAX_VALUE_LENGTH = 1_000

interface KeyValueJson {
  readonly key?: string
  readonly value?: Readonly<Record<string, unknown>>
}

/** Yields the attributes of a list of KeyValue in OTLP/JSON: numbers and booleans as text, and each text of a list. */
export function* attributeTexts(attributes: unknown): Generator<AttributeFilter> {
  for (const { key = '', value } of (attributes ?? []) as readonly KeyValueJson[]) {
    for (const text of textsOf(value)) yield { key, value: text }
  }
}

function* textsOf(value: KeyValueJson['value']): Generator<string> {
  const { arrayValue, kvlistValue, bytesValue, ...scalar } = value ?? {}
  const values = arrayValue === undefined ? [scalar] : ((arrayValue as { values?: object[] }).values ?? [])
  for (const one of values) {
    const plain = Object.values(one)[0]
    if (typeof plain === 'string' && plain.length <= MAX_VALUE_LENGTH) yield plain
    else if (typeof plain === 'number' || typeof plain === 'boolean') yield String(plain)
  }
}

/** Returns the hashes of the attributes. */
export const attributePairs = (attributes: unknown): number[] => Array.from(attributeTexts(attributes), hashOf)

const BYTES_PER_PAIR = 3

/** Returns 24 bits that two different attributes rarely share (FNV-1a, folded). */
function hashOf({ key, value }: AttributeFilter): number {
  const text = `${key}=${value}`
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return ((hash >>> 8) ^ (hash << 16)) & 0xffffff
}

/** Returns the bytes that a set of attributes contains if it contains this one; it may contain them by chance. */
export const pairBytes = (filter: AttributeFilter): Buffer => toBytes([hashOf(filter)])

export function toBytes(pairs: Iterable<number>): Buffer {
  const list = [...pairs]
  const bytes = Buffer.alloc(list.length * BYTES_PER_PAIR)
  for (const [index, pair] of list.entries()) bytes.writeUIntBE(pair, index * BYTES_PER_PAIR, BYTES_PER_PAIR)
  return bytes
}

export function fromBytes(bytes: Uint8Array): number[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return Array.from({ length: buffer.length / BYTES_PER_PAIR }, (_, index) =>
    buffer.readUIntBE(index * BYTES_PER_PAIR, BYTES_PER_PAIR),
  )
}
