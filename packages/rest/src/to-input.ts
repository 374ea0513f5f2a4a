import type { InputSchema } from '@penstock/core'
import type { z } from 'zod'
import { type Names, type Parameter, parametersOf, snakeCase } from './parameter-names.ts'
import type { RequestParameters } from './request-parameters.ts'
import { type Traits, traitsOf } from './schema-traits.ts'

/**
 * The input of an operation, from what a request says in REST's names and mostly in text. What a text cannot be read as
 * stays a text, for the schema to refuse; names that the operation does not know are left out.
 *
 * @see spec/rest-part2-details.md 1.3
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
 * What a document says for the input of an operation: names are put into the operation's, also nested ones, and values are
 * left as they are.
 */
export function renamed(schema: InputSchema, names: Names, document: unknown): Record<string, unknown> {
  if (!isObject(document)) return {}
  return Object.fromEntries(
    parametersOf(schema, names).flatMap(({ key, name, schema: parameter }) =>
      Object.hasOwn(document, name) ? [[key, renamedValue(parameter, document[name])]] : [],
    ),
  )
}

function renamedValue(schema: z.core.$ZodType, value: unknown): unknown {
  const { element, shape } = traitsOf(schema)
  if (Array.isArray(value)) return element === undefined ? value : value.map((one) => renamedValue(element, one))
  if (!isObject(value) || shape === undefined) return value
  const named: Record<string, unknown> = {}
  for (const { key, name, schema: member } of membersOf(shape)) {
    if (Object.hasOwn(value, name)) named[key] = renamedValue(member, value[name])
  }
  return named
}

type ObjectShape = NonNullable<Traits['shape']>

/** Every job of a record asks the same. */
const knownMembers = new WeakMap<ObjectShape, readonly Parameter[]>()

function membersOf(shape: ObjectShape): readonly Parameter[] {
  let members = knownMembers.get(shape)
  if (members === undefined) {
    members = Object.entries(shape).map(([key, schema]) => ({ key, name: snakeCase(key), schema }))
    knownMembers.set(shape, members)
  }
  return members
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** None where it says as much as nothing. */
const entry = (key: string, value: unknown): [string, unknown][] => (value === undefined ? [] : [[key, value]])

function read(schema: z.core.$ZodType, value: unknown, repeated?: readonly unknown[]): unknown {
  const traits = traitsOf(schema)
  if (traits.any) return value
  if (value === null) return nothing(traits)
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

/** What a parameter is that was sent as null, or empty where no text is meant. */
function nothing({ fallback, nullable, optional, text }: Traits): unknown {
  if (fallback !== undefined) return undefined
  if (nullable) return null
  if (optional) return undefined
  return text ? '' : null
}

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  yes: true,
  y: true,
  on: true,
  1: true,
  false: false,
  f: false,
  no: false,
  n: false,
  off: false,
  0: false,
}

function readText(traits: Traits, text: string, repeated: readonly unknown[] | undefined): unknown {
  if (traits.element !== undefined && (repeated !== undefined || !traits.text)) {
    return readElements(traits, repeated ?? (text === '' ? [] : text.split(',').map((part) => part.trim())))
  }
  if (traits.number && /^-?\d+$/.test(text)) return Number(text)
  if (traits.number && !traits.text && /^-?\d+\.\d+$/.test(text)) return Number(text)
  const truth = text.toLowerCase()
  if (traits.boolean && Object.hasOwn(truths, truth)) return truths[truth]
  if (traits.text || text.trim() !== '') return text
  return nothing(traits)
}

function readScalar(traits: Traits, value: number | boolean): unknown {
  if (typeof value === 'number' ? traits.number : traits.boolean) return value
  if (traits.boolean && (value === 0 || value === 1)) return value === 1
  if (traits.text || traits.moment) return String(value)
  return traits.element === undefined ? value : readElements(traits, [value])
}

function readElements({ element }: Traits, values: readonly unknown[]): unknown {
  if (element === undefined) return values
  return values.map((value) => read(element, value))
}

function readObject(traits: Traits, value: Readonly<Record<string, unknown>>): unknown {
  const indices = Object.keys(value)
  if (traits.element !== undefined && indices.length > 0 && indices.every((index) => /^\d{1,9}$/.test(index))) {
    // `files[0][content]`; JavaScript keeps such keys in the order of their numbers.
    return readElements(traits, Object.values(value))
  }
  if (traits.shape !== undefined) return readMembers(traits, value)
  const { values } = traits
  if (values === undefined) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, read(values, inner)]))
}

function readMembers({ shape = {}, isLoose }: Traits, value: Readonly<Record<string, unknown>>): unknown {
  const nameOf = (key: string) => (Object.hasOwn(value, key) ? key : snakeCase(key))
  const members = Object.entries(shape).flatMap(([key, schema]) => {
    const name = nameOf(key)
    return Object.hasOwn(value, name) ? entry(key, read(schema, value[name])) : []
  })
  const names = new Set(Object.keys(shape).map(nameOf))
  const others = isLoose ? Object.entries(value).filter(([name]) => !names.has(name)) : []
  return Object.fromEntries([...members, ...others])
}
