import { type KeyBlocks, MAX_BLOCK_BYTES } from '../bytes/attribute-blocks.ts'
import { requireInt64 } from '../bytes/integer-ranges.ts'
import type { AnyValue, KeyValue } from '../model/types.ts'
import { bytesText, doubleText } from '../schema/json-scalars.ts'
import { COMMA, type JsonWriter, memberFront } from '../schema/json-writer.ts'
import { anyValueArms, keyValueFields, valuesField } from '../schema/schema.ts'

const KEY = memberFront(keyValueFields.key.json)
const VALUE = memberFront(keyValueFields.value.json)
const STRING = memberFront(anyValueArms.string.json)
const BOOL = memberFront(anyValueArms.bool.json)
const INT = memberFront(anyValueArms.int.json)
const DOUBLE = memberFront(anyValueArms.double.json)
const BYTES = memberFront(anyValueArms.bytes.json)
const ARRAY = memberFront(anyValueArms.array.json)
const KVLIST = memberFront(anyValueArms.kvlist.json)
const VALUES = memberFront(valuesField.json)

/** The number of attributes from which a list is compared with the last one. Encoding a shorter list again is faster. */
const MIN_REMEMBERED = 16
/** The highest number of bytes that copying a pair needs besides it: for the comma, and for those that may be overwritten. */
const PAIR_OVERHEAD = 8

/** Writes attributes as a JSON list. A key is written even if it is empty. */
export function writeAttributes(writer: JsonWriter, attributes: readonly KeyValue[]): void {
  const closed = writer.closeList()
  if (attributes.length >= MIN_REMEMBERED) writer.lastList.write(writer, COMMA, attributes, writeAttribute)
  else writeEach(writer, attributes)
  writer.openList(closed)
}

function writeEach(writer: JsonWriter, attributes: readonly KeyValue[]): void {
  for (let index = attributes.length - 1; index >= 0; index -= 1) {
    writeAttribute(writer, COMMA, attributes[index] as KeyValue)
  }
}

function writeAttribute(writer: JsonWriter, tag: number, attribute: KeyValue): void {
  const { key, value, type } = attribute
  const last = writer.blocks.find(key)
  // 0 and -0 are equal, but their texts differ. The list of a kvlist can also be that of an array.
  const isRemembered = type !== 'double' && type !== 'kvlist'
  if (isRemembered && last !== undefined && last.value === value && last.pair !== undefined) {
    writer.reserve(last.pair.length + PAIR_OVERHEAD)
    writer.copyPair(tag, last.pair)
    return
  }
  const before = writer.written
  const closed = writer.closeObject()
  writeAnyValue(writer, attribute)
  // The key is looked up again, because encoding a container may have cleared the pool.
  const known = type === 'array' || type === 'kvlist' ? writer.blocks.find(key) : last
  if (known === undefined) writeFront(writer, key)
  else copyFront(writer, known)
  writer.openObject(closed)
  if (isRemembered) writer.rememberPair(known, value, writer.written - before)
  writer.byte(tag)
}

/** Writes the part of a KeyValue before its value, and stores it in the cache. */
function writeFront(writer: JsonWriter, key: string): void {
  const before = writer.written
  writer.constant(VALUE)
  writer.text(key)
  writer.constant(KEY)
  const bytes = writer.written - before
  if (bytes <= MAX_BLOCK_BYTES) writer.blocks.storeKey(key, writer.bytesBetween(writer.start, writer.start + bytes))
}

/** Writes the stored part of a KeyValue before its value. */
function copyFront(writer: JsonWriter, known: KeyBlocks): void {
  writer.reserve(known.key.length + PAIR_OVERHEAD)
  writer.start = writer.blocks.copyBefore(writer.view, writer.start, known.key)
}

/** Writes an AnyValue as a JSON object with one member, or as `{}` if it is empty. */
export function writeAnyValue(writer: JsonWriter, any: AnyValue): void {
  const closed = writer.closeObject()
  writeMember(writer, any)
  writer.openObject(closed)
}

function writeMember(writer: JsonWriter, any: AnyValue): void {
  switch (any.type) {
    case 'string':
      writer.text(any.value)
      writer.constant(STRING)
      break
    case 'bool':
      writer.ascii(String(any.value))
      writer.constant(BOOL)
      break
    case 'int':
      writer.quoted(String(requireInt64(any.value)))
      writer.constant(INT)
      break
    case 'double':
      writer.ascii(doubleText(any.value))
      writer.constant(DOUBLE)
      break
    case 'bytes':
      writer.ascii(bytesText(any.value))
      writer.constant(BYTES)
      break
    case 'array':
      writeValues(writer, ARRAY, any.value, (value) => {
        writeAnyValue(writer, value)
        writer.byte(COMMA)
      })
      break
    case 'kvlist':
      writeValues(writer, KVLIST, any.value, (value) => writeAttribute(writer, COMMA, value))
      break
    case 'empty':
      break
  }
}

function writeValues<T>(
  writer: JsonWriter,
  front: Uint8Array,
  values: readonly T[],
  writeValue: (value: T) => void,
): void {
  const closed = writer.closeObject()
  if (values.length > 0) {
    const closedList = writer.closeList()
    for (let index = values.length - 1; index >= 0; index -= 1) writeValue(values[index] as T)
    writer.openList(closedList)
    writer.constant(VALUES)
  }
  writer.openObject(closed)
  writer.constant(front)
}
