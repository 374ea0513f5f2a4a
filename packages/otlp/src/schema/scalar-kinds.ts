import { refuse } from '../bytes/decode-error.ts'
import { requireHex } from '../bytes/hex.ts'
import { requireInt32, requireInt64, requireUint32, requireUint64 } from '../bytes/integer-ranges.ts'
import {
  bytesFromJson,
  bytesText,
  doubleFromJson,
  doubleText,
  enumFromJson,
  integerFromJson,
  longFromJson,
  stringFromJson,
} from './json-scalars.ts'
import type { JsonWriter } from './json-writer.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { type ProtobufWriter, WireType } from './protobuf-writer.ts'

/** One kind of scalar on the wire, with its reader and writer in each encoding. */
export interface ScalarKind<V> {
  readonly wireType: WireType
  /** The value of a field that is not on the wire. */
  readonly absent: V
  /** Returns whether the value is left out of an encoding. A member of a oneof is always written. */
  isAbsent(value: V): boolean
  write(writer: ProtobufWriter, value: V): void
  read(reader: ProtobufReader): V
  writeJson(writer: JsonWriter, value: V): void
  fromJson(json: unknown): V
}

const INT32 = { min: -0x8000_0000, max: 0x7fff_ffff }
const UINT32 = { min: 0, max: 0xffff_ffff }
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const UINT64 = { min: 0n, max: 2n ** 64n - 1n }

const isZero = (value: number) => value === 0
const isZeroLong = (value: bigint) => value === 0n

const text: ScalarKind<string> = {
  wireType: WireType.LENGTH_DELIMITED,
  absent: '',
  isAbsent: (value) => value === '',
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.text(),
  writeJson: (writer, value) => writer.text(value),
  fromJson: stringFromJson,
}

const bytes: ScalarKind<Uint8Array> = {
  wireType: WireType.LENGTH_DELIMITED,
  absent: new Uint8Array(0),
  isAbsent: (value) => value.length === 0,
  write: (writer, value) => writer.lengthDelimited(value),
  read: (reader) => reader.bytes(),
  writeJson: (writer, value) => writer.ascii(bytesText(value)),
  fromJson: bytesFromJson,
}

function id(byteCount: number): ScalarKind<string> {
  const pattern = new RegExp(`^([0-9a-f]{${byteCount * 2}})?$`, 'i')
  return {
    wireType: WireType.LENGTH_DELIMITED,
    absent: '',
    isAbsent: (value) => value === '',
    write: (writer, value) => writer.id(value, byteCount),
    read: (reader) => reader.id(byteCount),
    writeJson(writer, value) {
      requireHex(value, byteCount)
      writer.quoted(value)
    },
    fromJson(json) {
      if (typeof json !== 'string' || !pattern.test(json)) refuse(`must be ${byteCount * 2} hex digits`)
      return json.toLowerCase()
    },
  }
}

const bool: ScalarKind<boolean> = {
  wireType: WireType.VARINT,
  absent: false,
  isAbsent: (value) => !value,
  write: (writer, value) => writer.varint(value ? 1 : 0),
  read: (reader) => reader.varint() !== 0,
  writeJson: (writer, value) => writer.ascii(String(value)),
  fromJson: (json) => (typeof json === 'boolean' ? json : refuse('must be true or false')),
}

const int32: ScalarKind<number> = {
  wireType: WireType.VARINT,
  absent: 0,
  isAbsent: isZero,
  write: (writer, value) =>
    value < 0 ? writer.varint64(BigInt(requireInt32(value))) : writer.varint(requireInt32(value)),
  read: (reader) => reader.varint32() | 0,
  writeJson: (writer, value) => writer.ascii(String(requireInt32(value))),
  fromJson: (json) => integerFromJson(json, INT32),
}

const enumeration: ScalarKind<number> = { ...int32, fromJson: (json) => enumFromJson(json, INT32) }

/** The zigzag encoding of 0, -1, 1, -2, … is 0, 1, 2, 3, … */
const sint32: ScalarKind<number> = {
  ...int32,
  write: (writer, value) => writer.varint(((requireInt32(value) << 1) ^ (value >> 31)) >>> 0),
  read(reader) {
    const zigzag = reader.varint32()
    return (zigzag >>> 1) ^ -(zigzag & 1)
  },
}

const uint32: ScalarKind<number> = {
  wireType: WireType.VARINT,
  absent: 0,
  isAbsent: isZero,
  write: (writer, value) => writer.varint(requireUint32(value)),
  read: (reader) => reader.varint32(),
  writeJson: (writer, value) => writer.ascii(String(requireUint32(value))),
  fromJson: (json) => integerFromJson(json, UINT32),
}

const fixed32: ScalarKind<number> = {
  ...uint32,
  wireType: WireType.FIXED32,
  write: (writer, value) => writer.fixed32(requireUint32(value)),
  read: (reader) => reader.fixed32(),
}

const int64: ScalarKind<bigint> = {
  wireType: WireType.VARINT,
  absent: 0n,
  isAbsent: isZeroLong,
  write: (writer, value) => writer.varint64(requireInt64(value)),
  read: (reader) => BigInt.asIntN(64, reader.varint64()),
  writeJson: (writer, value) => writer.quoted(String(requireInt64(value))),
  fromJson: (json) => longFromJson(json, INT64),
}

const uint64: ScalarKind<bigint> = {
  wireType: WireType.VARINT,
  absent: 0n,
  isAbsent: isZeroLong,
  write: (writer, value) => writer.varint64(requireUint64(value)),
  read: (reader) => reader.varint64(),
  writeJson: (writer, value) => writer.quoted(String(requireUint64(value))),
  fromJson: (json) => longFromJson(json, UINT64),
}

const fixed64: ScalarKind<bigint> = {
  ...uint64,
  wireType: WireType.FIXED64,
  write: (writer, value) => writer.fixed64(requireUint64(value)),
  read: (reader) => reader.fixed64(),
}

const sfixed64: ScalarKind<bigint> = {
  ...int64,
  wireType: WireType.FIXED64,
  write: (writer, value) => writer.fixed64(requireInt64(value)),
  read: (reader) => reader.sfixed64(),
}

const double: ScalarKind<number> = {
  wireType: WireType.FIXED64,
  absent: 0,
  // protobuf leaves out +0 only, because -0 has a sign
  isAbsent: (value) => Object.is(value, 0),
  write: (writer, value) => writer.double(value),
  read: (reader) => reader.double(),
  writeJson: (writer, value) => writer.ascii(doubleText(value)),
  fromJson: doubleFromJson,
}

/** A double with presence: 0 is a value, `undefined` means absent. */
const optionalDouble: ScalarKind<number | undefined> = {
  ...double,
  absent: undefined,
  isAbsent: (value) => value === undefined,
  write: (writer, value) => writer.double(value as number),
  writeJson: (writer, value) => writer.ascii(doubleText(value as number)),
}

export const scalarKinds = {
  string: text,
  bytes,
  traceId: id(16),
  spanId: id(8),
  bool,
  int32,
  enum: enumeration,
  uint32,
  sint32,
  fixed32,
  int64,
  uint64,
  fixed64,
  sfixed64,
  double,
  optionalDouble,
}

export type ScalarKindName = keyof typeof scalarKinds
export type ScalarValue<K extends ScalarKindName> = (typeof scalarKinds)[K] extends ScalarKind<infer V> ? V : never

/** Returns a kind for code that does not know the type of its values. */
export function scalarKind(name: ScalarKindName): ScalarKind<unknown> {
  return scalarKinds[name] as ScalarKind<unknown>
}
