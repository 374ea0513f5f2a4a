import { refuse, within } from '../bytes/decode-error.ts'
import type { DecodeBudget } from '../bytes/decode-limits.ts'
import { createModelFactory } from '../schema/empty-model.ts'
import type { Message, Model, NamedField } from '../schema/field.ts'
import { scalarKind } from '../schema/scalar-kinds.ts'
import { arrayFromJson, objectFromJson } from './json-containers.ts'
import { anyValueFromJson, attributeFromJson } from './json-decode-attributes.ts'

/** Reads one JSON object into a fresh model. */
type ObjectReader = (json: unknown, budget: DecodeBudget) => Model

interface MemberReader {
  /** The key in JSON. */
  readonly name: string
  read(json: unknown, budget: DecodeBudget, model: Model): void
}

const compiled = new Map<Message, ObjectReader>()

/** Reads a message from parsed JSON. Unknown keys are ignored, and null is treated as absent. */
export function modelFromJson<T>(message: Message<T>, json: unknown, budget: DecodeBudget): T {
  return objectReaderOf(message as Message)(json, budget) as T
}

function objectReaderOf(message: Message): ObjectReader {
  const known = compiled.get(message)
  if (known) return known
  const members = message.fields.flatMap(memberReaders)
  const emptyModel = createModelFactory(message)
  const read: ObjectReader = (json, budget) => {
    const object = objectFromJson(json)
    const model = emptyModel()
    for (const member of members) {
      const value = object[member.name]
      if (value === undefined || value === null) continue
      try {
        member.read(value, budget, model)
      } catch (error) {
        throw within(error, member.name)
      }
    }
    return model
  }
  compiled.set(message, read)
  return read
}

function memberReaders(field: NamedField): MemberReader[] {
  const { property, json: name } = field
  const into = (fromJson: (json: unknown, budget: DecodeBudget) => unknown): MemberReader[] => [
    {
      name,
      read(json, budget, model) {
        model[property] = fromJson(json, budget)
      },
    },
  ]
  switch (field.form) {
    case 'scalar':
      return into(scalarKind(field.kind).fromJson)
    case 'packed': {
      const { fromJson } = scalarKind(field.kind)
      return into((json, budget) => arrayFromJson(json, budget, fromJson))
    }
    case 'message':
      return into(objectReaderOf(field.message))
    case 'list': {
      const readElement = objectReaderOf(field.message)
      return into((json, budget) => arrayFromJson(json, budget, (element) => readElement(element, budget)))
    }
    case 'attributes':
      return into((json, budget) => arrayFromJson(json, budget, (element) => attributeFromJson(element, budget, 1)))
    case 'anyValue':
      return into((json, budget) => anyValueFromJson(json, budget, 1))
    case 'scalarOneof':
      return field.arms.map((arm) => {
        const { fromJson } = scalarKind(arm.kind)
        return armReader(property, arm.json, (json) => ({ type: arm.type, value: fromJson(json) }))
      })
    case 'messageOneof':
      return field.arms.map((arm) => {
        const readMember = objectReaderOf(arm.message)
        return armReader(property, arm.type, (json, budget) => ({ type: arm.type, ...readMember(json, budget) }))
      })
  }
}

function armReader(
  property: string,
  name: string,
  fromJson: (json: unknown, budget: DecodeBudget) => unknown,
): MemberReader {
  return {
    name,
    read(json, budget, model) {
      if (model[property] !== undefined) refuse('another member of the same oneof is set too')
      model[property] = fromJson(json, budget)
    },
  }
}
