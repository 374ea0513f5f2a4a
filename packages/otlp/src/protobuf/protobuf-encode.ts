import type { AnyValue, KeyValue } from '../model/types.ts'
import type { Message, Model, NamedField } from '../schema/field.ts'
import { type ProtobufWriter, toTag, WireType } from '../schema/protobuf-writer.ts'
import { scalarKind } from '../schema/scalar-kinds.ts'
import { writeAnyValue, writeAttributes } from './protobuf-encode-attributes.ts'

/** Writes the fields of one message, without the message's own tag and length. */
type MessageWriter = (writer: ProtobufWriter, model: Model) => void

interface FieldWriter {
  readonly number: number
  readonly write: MessageWriter
}

const compiled = new Map<Message, MessageWriter>()

/** Returns the writer of a message, derived from its table. Fields are written in the order of their numbers. */
export function getProtobufWriter<T>(message: Message<T>): (writer: ProtobufWriter, model: T) => void {
  const known = compiled.get(message as Message)
  if (known) return known as (writer: ProtobufWriter, model: T) => void
  const writers = message.fields
    .flatMap(fieldWriters)
    .sort((a, b) => b.number - a.number)
    .map((field) => field.write)
  const write: MessageWriter = (writer, model) => {
    for (const writeField of writers) writeField(writer, model)
  }
  compiled.set(message as Message, write)
  return write as (writer: ProtobufWriter, model: T) => void
}

function fieldWriters(field: NamedField): FieldWriter[] {
  const { property } = field
  switch (field.form) {
    case 'scalar':
      return [scalarWriter(property, field.number, scalarKind(field.kind))]
    case 'packed':
      return [packedWriter(property, field.number, scalarKind(field.kind))]
    case 'message':
      return [messageWriter(property, field.number, field.message, field.required)]
    case 'list':
      return [listWriter(property, field.number, field.message)]
    case 'attributes': {
      const tag = toTag(field.number, WireType.LENGTH_DELIMITED)
      const write: MessageWriter = (writer, model) => writeAttributes(writer, tag, model[property] as KeyValue[])
      return [{ number: field.number, write }]
    }
    case 'anyValue': {
      const tag = toTag(field.number, WireType.LENGTH_DELIMITED)
      return [{ number: field.number, write: anyValueWriter(property, tag) }]
    }
    case 'scalarOneof':
      return field.arms.map((arm) => scalarArmWriter(property, arm.type, arm.number, scalarKind(arm.kind)))
    case 'messageOneof':
      return field.arms.map((arm) => messageArmWriter(property, arm.type, arm.number, arm.message))
  }
}

type Kind = ReturnType<typeof scalarKind>

function scalarWriter(property: string, number: number, kind: Kind): FieldWriter {
  const tag = toTag(number, kind.wireType)
  return {
    number,
    write(writer, model) {
      const value = model[property]
      if (kind.isAbsent(value)) return
      kind.write(writer, value)
      writer.tag(tag)
    },
  }
}

function packedWriter(property: string, number: number, kind: Kind): FieldWriter {
  const tag = toTag(number, WireType.LENGTH_DELIMITED)
  return {
    number,
    write(writer, model) {
      const values = model[property] as readonly unknown[]
      if (values.length === 0) return
      const before = writer.written
      for (let index = values.length - 1; index >= 0; index -= 1) kind.write(writer, values[index])
      writer.closeMessage(tag, before)
    },
  }
}

function messageWriter(property: string, number: number, message: Message, required: boolean): FieldWriter {
  const tag = toTag(number, WireType.LENGTH_DELIMITED)
  const writeMessage = getProtobufWriter(message)
  return {
    number,
    write(writer, model) {
      const value = model[property]
      if (value === undefined) return
      const before = writer.written
      writeMessage(writer, value)
      if (required && writer.written === before) return
      writer.closeMessage(tag, before)
    },
  }
}

function listWriter(property: string, number: number, message: Message): FieldWriter {
  const tag = toTag(number, WireType.LENGTH_DELIMITED)
  const writeMessage = getProtobufWriter(message)
  return {
    number,
    write(writer, model) {
      const elements = model[property] as readonly unknown[]
      for (let index = elements.length - 1; index >= 0; index -= 1) {
        const before = writer.written
        writeMessage(writer, elements[index])
        writer.closeMessage(tag, before)
      }
    },
  }
}

function anyValueWriter(property: string, tag: number): MessageWriter {
  return (writer, model) => {
    const value = model[property] as AnyValue | undefined
    if (value === undefined) return
    const before = writer.written
    writeAnyValue(writer, value)
    writer.closeMessage(tag, before)
  }
}

function scalarArmWriter(property: string, type: string, number: number, kind: Kind): FieldWriter {
  const tag = toTag(number, kind.wireType)
  return {
    number,
    write(writer, model) {
      const member = model[property] as { type: string; value: unknown } | undefined
      if (member?.type !== type) return
      kind.write(writer, member.value)
      writer.tag(tag)
    },
  }
}

function messageArmWriter(property: string, type: string, number: number, message: Message): FieldWriter {
  const tag = toTag(number, WireType.LENGTH_DELIMITED)
  const writeMessage = getProtobufWriter(message)
  return {
    number,
    write(writer, model) {
      const member = model[property] as { type: string } | undefined
      if (member?.type !== type || writer.lastMember.copyTo(writer, member)) return
      const before = writer.written
      writeMessage(writer, member)
      writer.closeMessage(tag, before)
      writer.lastMember.remember(writer, member, before)
    },
  }
}
