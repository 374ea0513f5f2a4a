import { expect, test } from 'vitest'
import { signalNames } from '../model/signals.ts'
import type { Message, NamedField } from './field.ts'
import { schema } from './schema.ts'

function numbersOf(field: NamedField): number[] {
  return 'arms' in field ? field.arms.map((arm) => arm.number) : [field.number]
}

function jsonNamesOf(field: NamedField): string[] {
  if (field.form === 'scalarOneof') return field.arms.map((arm) => arm.json)
  return field.form === 'messageOneof' ? field.arms.map((arm) => arm.type) : [field.json]
}

function messagesIn(message: Message): Message[] {
  const inside = message.fields.flatMap((field) => {
    if (field.form === 'messageOneof') return field.arms.flatMap((arm) => messagesIn(arm.message))
    return 'message' in field ? messagesIn(field.message) : []
  })
  return [message, ...inside]
}

const messages = new Set(signalNames.flatMap((signal) => messagesIn(schema[signal].request as Message)))

test.each([...messages])('$name: numbers and JSON names are unique', ({ fields }) => {
  const numbers = fields.flatMap(numbersOf)
  expect(new Set(numbers).size).toBe(numbers.length)
  const names = fields.flatMap(jsonNamesOf)
  expect(new Set(names).size).toBe(names.length)
})

test('the tags of attribute lists take one byte, as their writer assumes', () => {
  for (const { fields } of messages) {
    for (const field of fields) {
      if (field.form === 'attributes') expect(field.number).toBeLessThan(16)
    }
  }
})
