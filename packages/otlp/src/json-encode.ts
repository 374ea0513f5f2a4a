import type { Message, Model, NamedField } from './field.ts'
import type { JsonAttributes } from './json-encode-attributes.ts'
import { scalarKind } from './scalar-kinds.ts'
import type { AnyValue, KeyValue } from './types.ts'

/** Returns one member of an object (`"name":value`), or '' if the field is left out. */
type MemberText = (model: Model, attributes: JsonAttributes) => string

/** Returns a message as JSON. `attributes` belongs to the encoder. */
export type MessageText<T> = (model: T, attributes: JsonAttributes) => string

const compiled = new Map<Message, MessageText<Model>>()

/** Returns the writer of canonical OTLP/JSON for a message, derived from its table. Members are in the order of the proto file. */
export function jsonTextOf<T>(message: Message<T>): MessageText<T> {
  const known = compiled.get(message as Message)
  if (known) return known as never
  const members = message.fields.flatMap(memberTexts)
  const text: MessageText<Model> = (model, attributes) => {
    let inside = ''
    for (const memberText of members) {
      const member = memberText(model, attributes)
      if (member !== '') inside += inside === '' ? member : `,${member}`
    }
    return `{${inside}}`
  }
  compiled.set(message as Message, text)
  return text as never
}

function memberTexts(field: NamedField): MemberText[] {
  const { property, json } = field
  const name = `"${json}":`
  switch (field.form) {
    case 'scalar': {
      const kind = scalarKind(field.kind)
      return [
        (model) => {
          const value = model[property]
          return kind.isAbsent(value) ? '' : name + kind.toJson(value)
        },
      ]
    }
    case 'packed': {
      const kind = scalarKind(field.kind)
      return [listText(name, property, kind.toJson)]
    }
    case 'message': {
      const messageText = jsonTextOf(field.message)
      return [
        (model, attributes) => {
          const value = model[property]
          if (value === undefined) return ''
          const text = messageText(value, attributes)
          return field.required && text === '{}' ? '' : name + text
        },
      ]
    }
    case 'list':
      return [listText(name, property, jsonTextOf(field.message))]
    case 'attributes':
      return [
        (model, attributes) => {
          const list = model[property] as readonly KeyValue[]
          return list.length === 0 ? '' : `${name}[${attributes.listText(list)}]`
        },
      ]
    case 'anyValue':
      return [
        (model, attributes) => {
          const value = model[property] as AnyValue | undefined
          return value === undefined ? '' : name + attributes.valueText(value)
        },
      ]
    case 'scalarOneof':
      return field.arms.map((arm) => {
        const kind = scalarKind(arm.kind)
        return (model) => {
          const member = model[property] as { type: string; value: unknown } | undefined
          return member?.type === arm.type ? `"${arm.json}":${kind.toJson(member.value)}` : ''
        }
      })
    case 'messageOneof':
      return field.arms.map((arm) => {
        const messageText = jsonTextOf(arm.message)
        return (model, attributes) => {
          const member = model[property] as { type: string } | undefined
          return member?.type === arm.type ? `"${arm.type}":${messageText(member, attributes)}` : ''
        }
      })
  }
}

function listText<T>(
  name: string,
  property: string,
  elementText: (element: T, attributes: JsonAttributes) => string,
): MemberText {
  return (model, attributes) => {
    const elements = model[property] as readonly T[]
    if (elements.length === 0) return ''
    return `${name}[${elements.map((element) => elementText(element, attributes)).join(',')}]`
  }
}
