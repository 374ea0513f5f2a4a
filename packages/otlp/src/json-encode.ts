import type { Message, Model, NamedField } from './field.ts'
import { anyValueText, attributesText } from './json-encode-attributes.ts'
import { scalarKind } from './scalar-kinds.ts'
import type { AnyValue, KeyValue } from './types.ts'

/** One member of an object (`"name":value`), or '' when the field is left out. */
type MemberText = (model: Model) => string

const compiled = new Map<Message, (model: Model) => string>()

/** Canonical OTLP/JSON of a message, derived from its table. Members come in the order of the proto file. */
export function jsonTextOf<T>(message: Message<T>): (model: T) => string {
  const known = compiled.get(message as Message)
  if (known) return known as never
  const members = message.fields.flatMap(memberTexts)
  const text = (model: Model) => {
    let inside = ''
    for (const memberText of members) {
      const member = memberText(model)
      if (member !== '') inside += inside === '' ? member : `,${member}`
    }
    return `{${inside}}`
  }
  compiled.set(message as Message, text)
  return text as never
}

function memberTexts({ property, json, shape }: NamedField): MemberText[] {
  const name = `"${json}":`
  switch (shape.shape) {
    case 'scalar': {
      const kind = scalarKind(shape.kind)
      return [
        (model) => {
          const value = model[property]
          return kind.isAbsent(value) ? '' : name + kind.toJson(value)
        },
      ]
    }
    case 'packed': {
      const kind = scalarKind(shape.kind)
      return [listText(name, property, kind.toJson)]
    }
    case 'message': {
      const messageText = jsonTextOf(shape.message)
      return [
        (model) => {
          const value = model[property]
          if (value === undefined) return ''
          const text = messageText(value)
          return shape.required && text === '{}' ? '' : name + text
        },
      ]
    }
    case 'list':
      return [listText(name, property, jsonTextOf(shape.message))]
    case 'attributes':
      return [
        (model) => {
          const attributes = model[property] as readonly KeyValue[]
          return attributes.length === 0 ? '' : `${name}[${attributesText(attributes)}]`
        },
      ]
    case 'anyValue':
      return [
        (model) => {
          const value = model[property] as AnyValue | undefined
          return value === undefined ? '' : name + anyValueText(value)
        },
      ]
    case 'scalarOneof':
      return shape.arms.map((arm) => {
        const kind = scalarKind(arm.kind)
        return (model) => {
          const member = model[property] as { type: string; value: unknown } | undefined
          return member?.type === arm.type ? `"${arm.json}":${kind.toJson(member.value)}` : ''
        }
      })
    case 'messageOneof':
      return shape.arms.map((arm) => {
        const messageText = jsonTextOf(arm.message)
        return (model) => {
          const member = model[property] as { type: string } | undefined
          return member?.type === arm.type ? `"${arm.type}":${messageText(member)}` : ''
        }
      })
  }
}

function listText(name: string, property: string, elementText: (element: unknown) => string): MemberText {
  return (model) => {
    const elements = model[property] as readonly unknown[]
    return elements.length === 0 ? '' : `${name}[${elements.map(elementText).join(',')}]`
  }
}
