import type { Message, Model } from './field.ts'
import { scalarKind } from './scalar-kinds.ts'

/** A message none of whose fields is set. Lists are fresh, for a decoder to fill. */
export function emptyModel(message: Message): Model {
  const model: Model = {}
  for (const { property, shape } of message.fields) {
    switch (shape.shape) {
      case 'scalar':
        model[property] = scalarKind(shape.kind).absent
        break
      case 'packed':
      case 'list':
      case 'attributes':
        model[property] = []
        break
      case 'message':
        model[property] = shape.required ? emptyModel(shape.message) : undefined
        break
      default:
        model[property] = undefined
    }
  }
  return model
}
