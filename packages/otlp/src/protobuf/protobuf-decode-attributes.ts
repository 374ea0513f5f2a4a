import { within } from '../bytes/decode-error.ts'
import type { AnyValue, KeyValue } from '../model/types.ts'
import type { ProtobufReader } from '../schema/protobuf-reader.ts'
import { WireType } from '../schema/protobuf-writer.ts'
import { anyValueArms, keyValueFields, valuesField } from '../schema/schema.ts'

const { LENGTH_DELIMITED, VARINT, FIXED64 } = WireType

/** An AnyValue that is being read. The last member of the oneof is used. */
export interface OpenValue {
  type: AnyValue['type']
  value: unknown
}

interface OpenAttribute extends OpenValue {
  key: string
}

/** Reads one KeyValue, including its length. `depth` is the depth of its AnyValue, 1 for an attribute. */
export function readAttribute(reader: ProtobufReader, depth: number): KeyValue {
  reader.budget.takeElement()
  const attribute: OpenAttribute = { key: '', type: 'empty', value: undefined }
  const outerEnd = reader.enter()
  let field = ''
  try {
    while (reader.position < reader.end) {
      field = ''
      const tag = reader.tag()
      switch (tag >>> 3) {
        case keyValueFields.key.number:
          field = keyValueFields.key.json
          reader.requireWireType(tag & 7, LENGTH_DELIMITED)
          attribute.key = reader.text()
          break
        case keyValueFields.value.number:
          field = keyValueFields.value.json
          reader.requireWireType(tag & 7, LENGTH_DELIMITED)
          readAnyValueInto(attribute, reader, depth)
          break
        default:
          reader.skip(tag & 7)
      }
    }
  } catch (error) {
    throw within(error, field)
  }
  reader.leave(outerEnd)
  return attribute as KeyValue
}

/** Reads one AnyValue, including its length, and merges it into the pieces of the same value that were read before. */
export function readAnyValueInto(any: OpenValue, reader: ProtobufReader, depth: number): void {
  reader.budget.enter(depth)
  const outerEnd = reader.enter()
  let member = ''
  try {
    while (reader.position < reader.end) {
      member = ''
      const tag = reader.tag()
      const type = armTypes[tag >>> 3]
      if (type === undefined) {
        reader.skip(tag & 7)
        continue
      }
      member = anyValueArms[type].json
      reader.requireWireType(tag & 7, armWireTypes[type])
      const value = readMember(type, any, reader, depth)
      any.type = type
      any.value = value
    }
  } catch (error) {
    throw within(error, member)
  }
  reader.leave(outerEnd)
}

type ArmType = keyof typeof anyValueArms

const armTypes: ArmType[] = []
for (const type of Object.keys(anyValueArms) as ArmType[]) armTypes[anyValueArms[type].number] = type

const armWireTypes: Readonly<Record<ArmType, WireType>> = {
  string: LENGTH_DELIMITED,
  bool: VARINT,
  int: VARINT,
  double: FIXED64,
  array: LENGTH_DELIMITED,
  kvlist: LENGTH_DELIMITED,
  bytes: LENGTH_DELIMITED,
}

function readMember(type: ArmType, present: OpenValue, reader: ProtobufReader, depth: number): unknown {
  switch (type) {
    case 'string':
      return reader.text()
    case 'bool':
      return reader.varint() !== 0
    case 'int':
      return BigInt.asIntN(64, reader.varint64())
    case 'double':
      return reader.double()
    case 'bytes':
      return reader.bytes()
    case 'array': {
      const values = present.type === 'array' ? (present.value as AnyValue[]) : []
      return readValues(reader, values, () => readElement(reader, depth + 1))
    }
    case 'kvlist': {
      const values = present.type === 'kvlist' ? (present.value as KeyValue[]) : []
      return readValues(reader, values, () => readAttribute(reader, depth + 1))
    }
  }
}

/** Reads an ArrayValue or a KeyValueList, appending to `values`. */
function readValues<T>(reader: ProtobufReader, values: T[], readOne: () => T): T[] {
  const outerEnd = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag >>> 3 !== valuesField.number) {
      reader.skip(tag & 7)
      continue
    }
    try {
      reader.requireWireType(tag & 7, LENGTH_DELIMITED)
      values.push(readOne())
    } catch (error) {
      throw within(within(error, `[${values.length}]`), valuesField.json)
    }
  }
  reader.leave(outerEnd)
  return values
}

function readElement(reader: ProtobufReader, depth: number): AnyValue {
  reader.budget.takeElement()
  const any: OpenValue = { type: 'empty', value: undefined }
  readAnyValueInto(any, reader, depth)
  return any as AnyValue
}
