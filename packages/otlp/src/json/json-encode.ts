import type { AnyValue, KeyValue } from '../model/types.ts'
import type { Message, Model, NamedField } from '../schema/field.ts'
import { COMMA, type JsonWriter, memberFront } from '../schema/json-writer.ts'
import { scalarKind } from '../schema/scalar-kinds.ts'
import { writeAnyValue, writeAttributes } from './json-encode-attributes.ts'

/** Writes one member with the comma before it, or nothing if the field is left out. */
type MemberWriter = (writer: JsonWriter, model: Model) => void

const compiled = new Map<Message, MemberWriter>()

/** Returns the function that writes a message as canonical OTLP/JSON, with the members in the order of the proto file. */
export function getJsonWriter<T>(message: Message<T>): (writer: JsonWriter, model: T) => void {
  const known = compiled.get(message as Message)
  if (known) return known as (writer: JsonWriter, model: T) => void
  const members = message.fields.flatMap(memberWriters).reverse()
  const write: MemberWriter = (writer, model) => {
    const closed = writer.closeObject()
    for (const writeMember of members) writeMember(writer, model)
    writer.openObject(closed)
  }
  compiled.set(message as Message, write)
  return write as (writer: JsonWriter, model: T) => void
}

function memberWriters(field: NamedField): MemberWriter[] {
  const { property, json } = field
  const front = memberFront(json)
  switch (field.form) {
    case 'scalar': {
      const kind = scalarKind(field.kind)
      return [
        (writer, model) => {
          const value = model[property]
          if (kind.isAbsent(value)) return
          kind.writeJson(writer, value)
          writer.constant(front)
        },
      ]
    }
    case 'packed':
      return [listWriter(front, property, scalarKind(field.kind).writeJson)]
    case 'message':
      return [messageWriter(front, property, field.message, field.required)]
    case 'list':
      return [listWriter(front, property, getJsonWriter(field.message))]
    case 'attributes':
      return [
        (writer, model) => {
          const list = model[property] as readonly KeyValue[]
          if (list.length === 0) return
          writeAttributes(writer, list)
          writer.constant(front)
        },
      ]
    case 'anyValue':
      return [
        (writer, model) => {
          const value = model[property] as AnyValue | undefined
          if (value === undefined) return
          writeAnyValue(writer, value)
          writer.constant(front)
        },
      ]
    case 'scalarOneof':
      return field.arms.map((arm) => {
        const kind = scalarKind(arm.kind)
        const armFront = memberFront(arm.json)
        return (writer, model) => {
          const member = model[property] as { type: string; value: unknown } | undefined
          if (member?.type !== arm.type) return
          kind.writeJson(writer, member.value)
          writer.constant(armFront)
        }
      })
    case 'messageOneof':
      return field.arms.map((arm) => messageArmWriter(property, arm.type, arm.message))
  }
}

function messageWriter(front: Uint8Array, property: string, message: Message, required: boolean): MemberWriter {
  const writeMessage = getJsonWriter(message)
  return (writer, model) => {
    const value = model[property]
    if (value === undefined) return
    const before = writer.written
    writeMessage(writer, value)
    // The model contains an empty message for an absent one, so `{}` is removed again.
    if (required && writer.written - before === EMPTY_OBJECT_BYTES) writer.start += EMPTY_OBJECT_BYTES
    else writer.constant(front)
  }
}

const EMPTY_OBJECT_BYTES = '{}'.length

function messageArmWriter(property: string, type: string, message: Message): MemberWriter {
  const writeMessage = getJsonWriter(message)
  const front = memberFront(type)
  return (writer, model) => {
    const member = model[property] as { type: string } | undefined
    if (member?.type !== type || writer.lastMember.copyTo(writer, member)) return
    const before = writer.written
    writeMessage(writer, member)
    writer.constant(front)
    writer.lastMember.remember(writer, member, before)
  }
}

function listWriter<T>(
  front: Uint8Array,
  property: string,
  writeElement: (writer: JsonWriter, element: T) => void,
): MemberWriter {
  return (writer, model) => {
    const elements = model[property] as readonly T[]
    if (elements.length === 0) return
    const closed = writer.closeList()
    for (let index = elements.length - 1; index >= 0; index -= 1) {
      writeElement(writer, elements[index] as T)
      writer.byte(COMMA)
    }
    writer.openList(closed)
    writer.constant(front)
  }
}
