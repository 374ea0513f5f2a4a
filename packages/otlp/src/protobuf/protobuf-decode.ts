import { within } from '../bytes/decode-error.ts'
import { createModelFactory } from '../schema/empty-model.ts'
import type { Message, Model, NamedField } from '../schema/field.ts'
import type { ProtobufReader } from '../schema/protobuf-reader.ts'
import { WireType } from '../schema/protobuf-writer.ts'
import { type ScalarKind, scalarKind } from '../schema/scalar-kinds.ts'
import { type OpenValue, readAnyValueInto, readAttribute } from './protobuf-decode-attributes.ts'

interface FieldReader {
  readonly number: number
  /** The name in error paths. */
  readonly json: string
  /** Returns the list that the element is appended to; missing for other fields. */
  readonly listProperty: string | undefined
  read(reader: ProtobufReader, wireType: number, model: Model): void
}

type MessageReader = (reader: ProtobufReader, model: Model) => void

const compiled = new Map<Message, MessageReader>()

/** Reads a message from the reader's position to its end. */
export function readMessage<T>(message: Message<T>, reader: ProtobufReader): T {
  const model = createModelFactory(message as Message)()
  messageReaderOf(message as Message)(reader, model)
  return model as T
}

/** Returns a function that reads fields into a model until the innermost open message ends. Repeated messages are merged, as in protobuf. */
function messageReaderOf(message: Message): MessageReader {
  const known = compiled.get(message)
  if (known) return known
  const byNumber: FieldReader[] = []
  for (const field of message.fields.flatMap(fieldReaders)) byNumber[field.number] = field
  const read: MessageReader = (reader, model) => {
    while (reader.position < reader.end) {
      const tag = reader.tag()
      const field = byNumber[tag >>> 3]
      if (field === undefined) reader.skip(tag & 7)
      else readField(field, reader, tag & 7, model)
    }
  }
  compiled.set(message, read)
  return read
}

function readField(field: FieldReader, reader: ProtobufReader, wireType: number, model: Model): void {
  try {
    field.read(reader, wireType, model)
  } catch (error) {
    const { listProperty, json } = field
    const index = listProperty === undefined ? undefined : (model[listProperty] as unknown[]).length
    throw within(index === undefined ? error : within(error, `[${index}]`), json)
  }
}

const { LENGTH_DELIMITED } = WireType

function fieldReaders(field: NamedField): FieldReader[] {
  const { property, json } = field
  const plain = { json, listProperty: undefined }
  const element = { json, listProperty: property }
  switch (field.form) {
    case 'scalar':
      return [{ ...plain, number: field.number, read: scalarReader(property, scalarKind(field.kind)) }]
    case 'packed':
      return [{ ...element, number: field.number, read: packedReader(property, scalarKind(field.kind)) }]
    case 'message':
      return [{ ...plain, number: field.number, read: subMessageReader(property, field.message) }]
    case 'list':
      return [{ ...element, number: field.number, read: listReader(property, field.message) }]
    case 'attributes':
      return [{ ...element, number: field.number, read: attributeReader(property) }]
    case 'anyValue':
      return [{ ...plain, number: field.number, read: anyValueReader(property) }]
    case 'scalarOneof':
      return field.arms.map((arm) => ({
        number: arm.number,
        json: arm.json,
        listProperty: undefined,
        read: scalarArmReader(property, arm.type, scalarKind(arm.kind)),
      }))
    case 'messageOneof':
      return field.arms.map((arm) => ({
        number: arm.number,
        json: arm.type,
        listProperty: undefined,
        read: messageArmReader(property, arm.type, arm.message),
      }))
  }
}

type Read = FieldReader['read']

function scalarReader(property: string, kind: ScalarKind<unknown>): Read {
  return (reader, wireType, model) => {
    reader.requireWireType(wireType, kind.wireType)
    model[property] = kind.read(reader)
  }
}

/** Reads a repeated scalar, packed or unpacked: protobuf requires readers to accept both. */
function packedReader(property: string, kind: ScalarKind<unknown>): Read {
  return (reader, wireType, model) => {
    const values = model[property] as unknown[]
    if (wireType === kind.wireType) {
      reader.budget.takeElement()
      values.push(kind.read(reader))
      return
    }
    reader.requireWireType(wireType, LENGTH_DELIMITED)
    const outerEnd = reader.enter()
    while (reader.position < reader.end) {
      reader.budget.takeElement()
      values.push(kind.read(reader))
    }
    reader.leave(outerEnd)
  }
}

function readInto(readFields: MessageReader, reader: ProtobufReader, wireType: number, model: Model): void {
  reader.requireWireType(wireType, LENGTH_DELIMITED)
  const outerEnd = reader.enter()
  readFields(reader, model)
  reader.leave(outerEnd)
}

function subMessageReader(property: string, message: Message): Read {
  const readFields = messageReaderOf(message)
  const emptyModel = createModelFactory(message)
  return (reader, wireType, model) => {
    model[property] ??= emptyModel()
    readInto(readFields, reader, wireType, model[property] as Model)
  }
}

function listReader(property: string, message: Message): Read {
  const readFields = messageReaderOf(message)
  const emptyModel = createModelFactory(message)
  return (reader, wireType, model) => {
    reader.budget.takeElement()
    const element = emptyModel()
    readInto(readFields, reader, wireType, element)
    ;(model[property] as Model[]).push(element)
  }
}

function attributeReader(property: string): Read {
  return (reader, wireType, model) => {
    reader.requireWireType(wireType, LENGTH_DELIMITED)
    ;(model[property] as unknown[]).push(readAttribute(reader, 1))
  }
}

function anyValueReader(property: string): Read {
  return (reader, wireType, model) => {
    reader.requireWireType(wireType, LENGTH_DELIMITED)
    model[property] ??= { type: 'empty', value: undefined }
    readAnyValueInto(model[property] as OpenValue, reader, 1)
  }
}

function scalarArmReader(property: string, type: string, kind: ScalarKind<unknown>): Read {
  return (reader, wireType, model) => {
    reader.requireWireType(wireType, kind.wireType)
    model[property] = { type, value: kind.read(reader) }
  }
}

/** Reads a member of a oneof. The same member is merged into the existing one; another member replaces it. */
function messageArmReader(property: string, type: string, message: Message): Read {
  const readFields = messageReaderOf(message)
  const emptyModel = createModelFactory(message)
  return (reader, wireType, model) => {
    const present = model[property] as Model | undefined
    const member = present?.type === type ? present : { type, ...emptyModel() }
    readInto(readFields, reader, wireType, member)
    model[property] = member
  }
}
