import { AttributeRuns } from './attribute-runs.ts'
import { requireInt64 } from './integer-ranges.ts'
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

const MAX_KEYS = 2048

/** Writes attributes as JSON and caches what it has written. Each encoder has its own instance. */
export class JsonAttributes {
  readonly #runs = new AttributeRuns<string>()
  /** The text before a value, by key. */
  readonly #fronts = new Map<string, string>()

  /** Returns the elements of a repeated KeyValue without the brackets. A key is always written, even if it is empty. */
  listText(attributes: readonly KeyValue[]): string {
    const run = this.#runs.findSuffix(attributes)
    if (run !== undefined) {
      const own = this.#eachText(attributes, attributes.length - run.attributes.length)
      return own === '' ? run.encoded : `${own},${run.encoded}`
    }
    const text = this.#eachText(attributes, attributes.length)
    this.#runs.remember(attributes, () => text)
    return text
  }

  valueText(any: AnyValue): string {
    switch (any.type) {
      case 'string':
        return `${STRING}${textOf(any.value)}}`
      case 'bool':
        return `${BOOL}${any.value}}`
      case 'int':
        return `${INT}${requireInt64(any.value)}"}`
      case 'double':
        return `${DOUBLE}${doubleText(any.value)}}`
      case 'bytes':
        return `${BYTES}${bytesText(any.value)}}`
      case 'array':
        return `${ARRAY}${valuesText(any.value.map((value) => this.valueText(value)).join(','))}}`
      case 'kvlist':
        return `${KVLIST}${valuesText(this.#eachText(any.value, any.value.length))}}`
      case 'empty':
        return '{}'
    }
  }

  /** Returns the first `count` attributes. */
  #eachText(attributes: readonly KeyValue[], count: number): string {
    let text = ''
    for (let index = 0; index < count; index += 1) {
      const attribute = attributes[index] as KeyValue
      if (index > 0) text += ','
      text += `${this.#front(attribute.key)}${this.valueText(attribute)}}`
    }
    return text
  }

  #front(key: string): string {
    const known = this.#fronts.get(key)
    if (known !== undefined) return known
    const front = `${KEY}${textOf(key)}${VALUE}`
    if (this.#fronts.size === MAX_KEYS) this.#fronts.clear()
    this.#fronts.set(key, front)
    return front
  }
}

function valuesText(inside: string): string {
  return inside === '' ? '{}' : `${VALUES}${inside}]}`
}
