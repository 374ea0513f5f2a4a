import { within } from './decode-error.ts'
import { emptyModel } from './empty-model.ts'
import type { Message, Model, NamedField } from './field.ts'
import { type OpenValue, readAnyValueInto, readAttribute } from './protobuf-decode-attributes.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { WireType } from './protobuf-writer.ts'
import { type ScalarKind, scalarKind } from './scalar-kinds.ts'

interface FieldReader {
  readonly number: number
  /** For error paths. */
  readonly json: string
  /** The list the element goes to, if it goes to one. */
  readonly listProperty: string | undefined
  read(reader: ProtobufReader, wireType: number, model: Model): void
}

type MessageReader = (reader: ProtobufReader, model: Model) => void

const compiled = new Map<Message, MessageReader>()

/** Reads one whole message: the bytes from the reader's position to its end. */
export function readMessage<T>(message: Message<T>, reader: ProtobufReader): T {
  const model = emptyModel(message as Message)
  messageReaderOf(message as Message)(reader, model)
  return model as T
}

/** Reads fields into a model until the innermost open message ends; a second reading merges, as protobuf says. */
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

function fieldReaders({ property, json, shape }: NamedField): FieldReader[] {
  const plain = { json, listProperty: undefined }
  const element = { json, listProperty: property }
  switch (shape.shape) {
    case 'scalar':
      return [{ ...plain, number: shape.number, read: scalarReader(property, scalarKind(shape.kind)) }]
    case 'packed':
      return [{ ...element, number: shape.number, read: packedReader(property, scalarKind(shape.kind)) }]
    case 'message':
      return [{ ...plain, number: shape.number, read: subMessageReader(property, shape.message) }]
    case 'list':
      return [{ ...element, number: shape.number, read: listReader(property, shape.message) }]
    case 'attributes':
      return [{ ...element, number: shape.number, read: attributeReader(property) }]
    case 'anyValue':
      return [{ ...plain, number: shape.number, read: anyValueReader(property) }]
    case 'scalarOneof':
      return shape.arms.map((arm) => ({
        number: arm.number,
        json: arm.json,
        listProperty: undefined,
        read: scalarArmReader(property, arm.type, scalarKind(arm.kind)),
      }))
    case 'messageOneof':
      return shape.arms.map((arm) => ({
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

/** Packed or one by one: a reader must take both. */
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
  return (reader, wireType, model) => {
    model[property] ??= emptyModel(message)
    readInto(readFields, reader, wireType, model[property] as Model)
  }
}

function listReader(property: string, message: Message): Read {
  const readFields = messageReaderOf(message)
  return (reader, wireType, model) => {
    reader.budget.takeElement()
    const element = emptyModel(message)
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

/** The same member again merges into what is there; another member replaces it. */
function messageArmReader(property: string, type: string, message: Message): Read {
  const readFields = messageReaderOf(message)
  return (reader, wireType, model) => {
    const present = model[property] as Model | undefined
    const member = present?.type === type ? present : { type, ...emptyModel(message) }
    readInto(readFields, reader, wireType, member)
    model[property] = member
  }
}
