import { bytesText, doubleText, textOf } from './json-scalars.ts'
import { anyValueArms, keyValueFields, valuesField } from './schema.ts'
import type { AnyValue, KeyValue } from './types.ts'

const KEY = `{"${keyValueFields.key.json}":`
const VALUE = `,"${keyValueFields.value.json}":`
const STRING = `{"${anyValueArms.string.json}":`
const BOOL = `{"${anyValueArms.bool.json}":`
const INT = `{"${anyValueArms.int.json}":"`
const DOUBLE = `{"${anyValueArms.double.json}":`
const BYTES = `{"${anyValueArms.bytes.json}":`
const ARRAY = `{"${anyValueArms.array.json}":`
const KVLIST = `{"${anyValueArms.kvlist.json}":`
const VALUES = `{"${valuesField.json}":[`

/** The elements of a repeated KeyValue, without the brackets. A key is always written, even an empty one. */
export function attributesText(attributes: readonly KeyValue[]): string {
  let text = ''
  for (const attribute of attributes) {
    if (text !== '') text += ','
    text += `${KEY}${textOf(attribute.key)}${VALUE}${anyValueText(attribute)}}`
  }
  return text
}

export function anyValueText(any: AnyValue): string {
  switch (any.type) {
    case 'string':
      return `${STRING}${textOf(any.value)}}`
    case 'bool':
      return `${BOOL}${any.value}}`
    case 'int':
      return `${INT}${any.value}"}`
    case 'double':
      return `${DOUBLE}${doubleText(any.value)}}`
    case 'bytes':
      return `${BYTES}${bytesText(any.value)}}`
    case 'array':
      return `${ARRAY}${valuesText(any.value.map(anyValueText).join(','))}}`
    case 'kvlist':
      return `${KVLIST}${valuesText(attributesText(any.value))}}`
    case 'empty':
      return '{}'
  }
}

function valuesText(inside: string): string {
  return inside === '' ? '{}' : `${VALUES}${inside}]}`
}
