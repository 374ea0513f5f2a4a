import { type InputSchema, parseBoolean } from '@penstock/core'
import { isStoredFile } from '@penstock/http'
import type { z } from 'zod'
import { type Names, type Parameter, parametersOf, snakeCase } from './parameter-names.ts'
import type { RequestParameters } from './request-parameters.ts'
import { isStoredFileShape, type Traits, traitsOf } from './schema-traits.ts'

/**
 * Converts the parameters of a request, which have REST names and are mostly text, to the input of an operation. Text that
 * cannot be converted stays text, and the schema rejects it. Unknown parameters are ignored.
 */
export function toInput(
  schema: InputSchema,
  names: Names,
  { values, repeated }: RequestParameters,
): Record<string, unknown> {
  const entries = parametersOf(schema, names).flatMap(({ key, name, schema: parameter }) => {
    if (!Object.hasOwn(values, name)) return []
    return entry(key, read(parameter, values[name], repeated.get(name)))
  })
  return Object.fromEntries(entries)
}

/**
 * Converts a document to the input of an operation. Names, including nested ones, become the operation's names; values are
 * not converted.
 */
export function documentInput(schema: InputSchema, names: Names, document: unknown): Record<string, unknown> {
  if (!isObject(document)) return {}
  return Object.fromEntries(
    parametersOf(schema, names).flatMap(({ key, name, schema: parameter }) =>
      Object.hasOwn(document, name) ? [[key, withInputNames(parameter, document[name])]] : [],
    ),
  )
}

function withInputNames(schema: z.core.$ZodType, value: unknown): unknown {
  const { element, shape } = traitsOf(schema)
  if (Array.isArray(value)) return element === undefined ? value : value.map((one) => withInputNames(element, one))
  if (!isObject(value) || shape === undefined) return value
  const named: Record<string, unknown> = {}
  for (const { key, name, schema: member } of membersOf(shape)) {
    if (Object.hasOwn(value, name)) named[key] = withInputNames(member, value[name])
  }
  return named
}

type ObjectShape = NonNullable<Traits['shape']>

/** The members by shape, cached because every job of a record has the same shape. */
const memberCache = new WeakMap<ObjectShape, readonly Parameter[]>()

function membersOf(shape: ObjectShape): readonly Parameter[] {
  let members = memberCache.get(shape)
  if (members === undefined) {
    members = Object.entries(shape).map(([key, schema]) => ({ key, name: snakeCase(key), schema }))
    memberCache.set(shape, members)
  }
  return members
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the entry as a list, which is empty if the value is `undefined`. */
const entry = (key: string, value: unknown): [string, unknown][] => (value === undefined ? [] : [[key, value]])

function read(schema: z.core.$ZodType, value: unknown, repeated?: readonly unknown[]): unknown {
  const traits = traitsOf(schema)
  if (traits.any) return value
  if (value === null) return emptyValue(traits)
  switch (typeof value) {
    case 'string':
      return readText(traits, value, repeated)
    case 'number':
    case 'boolean':
      return readScalar(traits, value)
    case 'object':
      return Array.isArray(value)
        ? readElements(traits, value)
        : readObject(traits, value as Readonly<Record<string, unknown>>)
    default:
      return value
  }
}

/** Returns the value of a parameter that was sent as null, or as an empty text if the parameter is not text. */
function emptyValue({ fallback, nullable, optional, text }: Traits): unknown {
  if (fallback !== undefined) return undefined
  if (nullable) return null
  if (optional) return undefined
  return text ? '' : null
}

function readText(traits: Traits, text: string, repeated: readonly unknown[] | undefined): unknown {
  if (traits.element !== undefined && (repeated !== undefined || !traits.text)) {
    return readElements(traits, repeated ?? (text === '' ? [] : text.split(',').map((part) => part.trim())))
  }
  if (traits.number && /^-?\d+$/.test(text)) return Number(text)
  if (traits.number && !traits.text && /^-?\d+\.\d+$/.test(text)) return Number(text)
  const boolean = traits.boolean ? parseBoolean(text) : undefined
  if (boolean !== undefined) return boolean
  if (traits.text || text.trim() !== '') return text
  return emptyValue(traits)
}

function readScalar(traits: Traits, value: number | boolean): unknown {
  if (typeof value === 'number' ? traits.number : traits.boolean) return value
  if (traits.boolean && (value === 0 || value === 1)) return value === 1
  if (traits.text || traits.dateOrTime) return String(value)
  return traits.element === undefined ? value : readElements(traits, [value])
}

function readElements({ element }: Traits, values: readonly unknown[]): unknown {
  if (element === undefined) return values
  return values.map((value) => read(element, value))
}

function readObject(traits: Traits, value: Readonly<Record<string, unknown>>): unknown {
  const indices = Object.keys(value)
  if (traits.element !== undefined && indices.length > 0 && indices.every((index) => /^\d{1,9}$/.test(index))) {
    // For names such as `files[0][content]`. JavaScript keeps such keys in numeric order.
    return readElements(traits, Object.values(value))
  }
  if (traits.shape !== undefined) return readMembers(traits, value)
  const { values } = traits
  if (values === undefined) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, read(values, inner)]))
}

function readMembers({ shape = {}, isLoose }: Traits, value: Readonly<Record<string, unknown>>): unknown {
  // No request may name a file of the server as if it had uploaded it.
  if (isStoredFileShape(shape) && !isStoredFile(value)) return false
  const nameOf = (key: string) => (Object.hasOwn(value, key) ? key : snakeCase(key))
  const members = Object.entries(shape).flatMap(([key, schema]) => {
    const name = nameOf(key)
    return Object.hasOwn(value, name) ? entry(key, read(schema, value[name])) : []
  })
  const names = new Set(Object.keys(shape).map(nameOf))
  const others = isLoose ? Object.entries(value).filter(([name]) => !names.has(name)) : []
  return Object.fromEntries([...members, ...others])
}
