import type { Message, Model, NamedField } from './field.ts'
import { scalarKind } from './scalar-kinds.ts'

const compiled = new Map<Message, () => Model>()

/** Returns a function that makes messages without set fields. Lists and required sub-messages are new, so a decoder can fill them. */
export function createModelFactory(message: Message): () => Model {
  const known = compiled.get(message)
  if (known) return known
  const template: Model = {}
  const fresh: { property: string; make: () => unknown }[] = []
  for (const field of message.fields) {
    template[field.property] = field.form === 'scalar' ? scalarKind(field.kind).absent : undefined
    const make = makerOf(field)
    if (make !== undefined) fresh.push({ property: field.property, make })
  }
  const empty = () => {
    const model = { ...template }
    for (const { property, make } of fresh) model[property] = make()
    return model
  }
  compiled.set(message, empty)
  return empty
}

function makerOf(field: NamedField): (() => unknown) | undefined {
  switch (field.form) {
    case 'packed':
    case 'list':
    case 'attributes':
      return () => []
    case 'message':
      return field.required ? createModelFactory(field.message) : undefined
    default:
      return undefined
  }
}
