import { type KeyBlocks, MAX_BLOCK_BYTES } from '../bytes/attribute-blocks.ts'
import { requireInt64 } from '../bytes/integer-ranges.ts'
import type { AnyValue, KeyValue } from '../model/types.ts'
import {
  type ProtobufWriter,
  toTag,
  utf8Before,
  varint64Before,
  varintBefore,
  WireType,
} from '../schema/protobuf-writer.ts'
import { anyValueArms, keyValueFields, valuesField } from '../schema/schema.ts'

const { LENGTH_DELIMITED, VARINT, FIXED64 } = WireType
const KEY = toTag(keyValueFields.key.number, LENGTH_DELIMITED)
const VALUE = toTag(keyValueFields.value.number, LENGTH_DELIMITED)
const VALUES = toTag(valuesField.number, LENGTH_DELIMITED)
const STRING = toTag(anyValueArms.string.number, LENGTH_DELIMITED)
const BOOL = toTag(anyValueArms.bool.number, VARINT)
const INT = toTag(anyValueArms.int.number, VARINT)
const DOUBLE = toTag(anyValueArms.double.number, FIXED64)
const ARRAY = toTag(anyValueArms.array.number, LENGTH_DELIMITED)
const KVLIST = toTag(anyValueArms.kvlist.number, LENGTH_DELIMITED)
const BYTES = toTag(anyValueArms.bytes.number, LENGTH_DELIMITED)

/** The length of the shortest list that is compared. Encoding a shorter one again is faster. */
const MIN_REMEMBERED = 16

/** Writes a repeated KeyValue, each element under `tag`, which takes one byte. */
export function writeAttributes(writer: ProtobufWriter, tag: number, attributes: readonly KeyValue[]): void {
  if (attributes.length >= MIN_REMEMBERED) writer.lastList.write(writer, tag, attributes, writeAttribute)
  else writeEach(writer, tag, attributes)
}

function writeEach(writer: ProtobufWriter, tag: number, attributes: readonly KeyValue[]): void {
  for (let index = attributes.length - 1; index >= 0; index -= 1) {
    writeAttribute(writer, tag, attributes[index] as KeyValue)
  }
}

/** The number of bytes for tags, lengths, a scalar value, and the bytes that `copyBefore` may overwrite. */
const PAIR_OVERHEAD = 48

/** Writes one KeyValue, from its end to its tag. This is the hot path, so it writes to the buffer directly. */
function writeAttribute(writer: ProtobufWriter, tag: number, attribute: KeyValue): void {
  const { key } = attribute
  writer.reserve(key.length * 3 + PAIR_OVERHEAD)
  const end = writer.start
  let at = end
  switch (attribute.type) {
    case 'string':
      writeText(writer, tag, key, attribute.value)
      return
    case 'int':
      writeInt(writer, tag, key, attribute.value)
      return
    case 'double':
      at -= 8
      writer.view.setFloat64(at, attribute.value, true)
      writer.buffer[--at] = DOUBLE
      break
    case 'bool':
      writer.buffer[--at] = attribute.value ? 1 : 0
      writer.buffer[--at] = BOOL
      break
    default:
      writeContainer(writer, tag, attribute)
      return
  }
  at = pairBefore(writer, at, end, key, writer.blocks.find(key))
  writer.buffer[--at] = tag
  writer.start = at
}

function writeInt(writer: ProtobufWriter, tag: number, key: string, value: bigint): void {
  const { buffer, start: end } = writer
  const known = writer.blocks.find(key)
  if (known?.value === value && known.pair !== undefined) {
    writer.copyPair(tag, known.pair)
    return
  }
  let at = varint64Before(buffer, end, requireInt64(value))
  buffer[--at] = INT
  at = pairBefore(writer, at, end, key, known)
  writer.start = at
  writer.rememberPair(known, value, end - at)
  buffer[--writer.start] = tag
}

function writeText(writer: ProtobufWriter, tag: number, key: string, text: string): void {
  writer.reserve((key.length + text.length) * 3 + PAIR_OVERHEAD)
  const { buffer, start: end } = writer
  const known = writer.blocks.find(key)
  if (known?.value === text && known.pair !== undefined) {
    writer.copyPair(tag, known.pair)
    return
  }
  let at = utf8Before(buffer, end, text)
  at = varintBefore(buffer, at, end - at)
  buffer[--at] = STRING
  at = pairBefore(writer, at, end, key, known)
  writer.start = at
  writer.rememberPair(known, text, end - at)
  buffer[--writer.start] = tag
}

function writeContainer(writer: ProtobufWriter, tag: number, attribute: KeyValue): void {
  const { key, value, type } = attribute
  const last = writer.blocks.find(key)
  // The list of a kvlist can also be that of an array, so only one of the types is remembered.
  const isRemembered = type !== 'kvlist'
  if (isRemembered && last !== undefined && last.value === value && last.pair !== undefined) {
    writer.reserve(last.pair.length + PAIR_OVERHEAD)
    writer.copyPair(tag, last.pair)
    return
  }
  const before = writer.written
  writeAnyValue(writer, attribute)
  writer.reserve(key.length * 3 + PAIR_OVERHEAD)
  // The key is looked up again, because encoding the values may have cleared the pool.
  const known = writer.blocks.find(key)
  writer.start = pairBefore(writer, writer.start, writer.buffer.length - before, key, known)
  if (isRemembered) writer.rememberPair(known, value, writer.written - before)
  writer.tag(tag)
}

/** Writes the part of a KeyValue before its AnyValue: two lengths and the key. The contents of the AnyValue are at [at, end). */
function pairBefore(
  writer: ProtobufWriter,
  at: number,
  end: number,
  key: string,
  known: KeyBlocks | undefined,
): number {
  const { buffer } = writer
  let front = varintBefore(buffer, at, end - at)
  buffer[--front] = VALUE
  front = known === undefined ? keyBefore(writer, front, key) : writer.blocks.copyBefore(writer.view, front, known.key)
  return varintBefore(buffer, front, end - front)
}

/** Writes the field `key` and stores it in the cache. */
function keyBefore(writer: ProtobufWriter, end: number, key: string): number {
  const { buffer, blocks } = writer
  if (key === '') return end
  let at = utf8Before(buffer, end, key)
  at = varintBefore(buffer, at, end - at)
  buffer[--at] = KEY
  if (end - at <= MAX_BLOCK_BYTES) blocks.storeKey(key, writer.bytesBetween(at, end))
  return at
}

/** Writes the contents of an AnyValue, without tag and length. */
export function writeAnyValue(writer: ProtobufWriter, any: AnyValue): void {
  switch (any.type) {
    case 'string':
      writer.text(any.value)
      writer.tag(STRING)
      break
    case 'bool':
      writer.varint(any.value ? 1 : 0)
      writer.tag(BOOL)
      break
    case 'int':
      writer.varint64(requireInt64(any.value))
      writer.tag(INT)
      break
    case 'double':
      writer.double(any.value)
      writer.tag(DOUBLE)
      break
    case 'bytes':
      writer.lengthDelimited(any.value)
      writer.tag(BYTES)
      break
    case 'array': {
      const before = writer.written
      for (let index = any.value.length - 1; index >= 0; index -= 1) {
        const beforeElement = writer.written
        writeAnyValue(writer, any.value[index] as AnyValue)
        writer.closeMessage(VALUES, beforeElement)
      }
      writer.closeMessage(ARRAY, before)
      break
    }
    case 'kvlist': {
      const before = writer.written
      writeEach(writer, VALUES, any.value)
      writer.closeMessage(KVLIST, before)
      break
    }
    case 'empty':
      break
  }
}
