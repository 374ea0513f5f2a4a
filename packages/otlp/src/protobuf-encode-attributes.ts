import { type ProtobufWriter, tagOf, WireType } from './protobuf-writer.ts'
import { anyValueArms, keyValueFields, valuesField } from './schema.ts'
import type { AnyValue, KeyValue } from './types.ts'

const { LENGTH_DELIMITED, VARINT, FIXED64 } = WireType
const KEY = tagOf(keyValueFields.key.number, LENGTH_DELIMITED)
const VALUE = tagOf(keyValueFields.value.number, LENGTH_DELIMITED)
const VALUES = tagOf(valuesField.number, LENGTH_DELIMITED)
const STRING = tagOf(anyValueArms.string.number, LENGTH_DELIMITED)
const BOOL = tagOf(anyValueArms.bool.number, VARINT)
const INT = tagOf(anyValueArms.int.number, VARINT)
const DOUBLE = tagOf(anyValueArms.double.number, FIXED64)
const ARRAY = tagOf(anyValueArms.array.number, LENGTH_DELIMITED)
const KVLIST = tagOf(anyValueArms.kvlist.number, LENGTH_DELIMITED)
const BYTES = tagOf(anyValueArms.bytes.number, LENGTH_DELIMITED)

/** Writes a repeated KeyValue, each element under `tag`. */
export function writeAttributes(writer: ProtobufWriter, tag: number, attributes: readonly KeyValue[]): void {
  for (let index = attributes.length - 1; index >= 0; index -= 1) {
    const attribute = attributes[index] as KeyValue
    const before = writer.written
    writeAnyValue(writer, attribute)
    writer.closeMessage(VALUE, before)
    if (attribute.key !== '') {
      writer.text(attribute.key)
      writer.tag(KEY)
    }
    writer.closeMessage(tag, before)
  }
}

/** Writes the inside of an AnyValue. */
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
      writer.varint64(any.value)
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
      writeAttributes(writer, VALUES, any.value)
      writer.closeMessage(KVLIST, before)
      break
    }
    case 'empty':
      break
  }
}
