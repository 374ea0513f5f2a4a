import { day, dayOrInstant, instant } from '@penstock/core'
import type { z } from 'zod'

/** The properties of a schema that decide how text is converted for it. A union accepts what any of its options accepts. */
export interface Traits {
  optional: boolean
  nullable: boolean
  /** The default value, or `undefined` if there is none. */
  fallback: unknown
  text: boolean
  /** Accepts a date or a time, for which an empty text is invalid. */
  dateOrTime: boolean
  number: boolean
  boolean: boolean
  /** Accepts any value. */
  any: boolean
  /** The schema of the elements, if it accepts a list. */
  element: z.core.$ZodType | undefined
  /** The schemas of the members, if it accepts an object. */
  shape: Readonly<Record<string, z.core.$ZodType>> | undefined
  /** Keeps members that are not in `shape`. */
  isLoose: boolean
  /** The schema of the values, if it accepts a record with any keys. */
  values: z.core.$ZodType | undefined
}

const cache = new WeakMap<z.core.$ZodType, Traits>()

export function traitsOf(schema: z.core.$ZodType): Traits {
  let traits = cache.get(schema)
  if (traits === undefined) {
    traits = {
      optional: false,
      nullable: false,
      fallback: undefined,
      text: false,
      dateOrTime: false,
      number: false,
      boolean: false,
      any: false,
      element: undefined,
      shape: undefined,
      isLoose: false,
      values: undefined,
    }
    collect(schema, traits)
    cache.set(schema, traits)
  }
  return traits
}

/** Returns the members of an object schema, or `undefined` if it is not an object schema. */
export const shapeOf = (schema: z.core.$ZodType): Traits['shape'] => traitsOf(schema).shape

/** The definitions of date and time schemas. `.meta()` creates another schema object with the same definition. */
const dateOrTimeDefinitions = new Set<unknown>([instant, day, dayOrInstant].map((schema) => schema._zod.def))
export const isDay = (schema: z.core.$ZodType): boolean => schema._zod.def === (day._zod.def as unknown)
export const isDateOrTime = (schema: z.core.$ZodType): boolean => dateOrTimeDefinitions.has(schema._zod.def)

/** Returns whether a schema accepts an uploaded file. Such a schema is recognised by its members. */
export function isFile(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  return def.type === 'object' && fileMembers.has(Object.keys(def.shape).toSorted().join())
}

const storedFileMembers = 'contentType,fileName,path,size'
/** The members of a file in memory, and of a file on the disk. */
const fileMembers = new Set(['bytes,contentType,fileName', storedFileMembers])

/** Returns whether an object schema with these members is that of a file on the disk. */
export const isStoredFileShape = (shape: NonNullable<Traits['shape']>): boolean =>
  Object.keys(shape).toSorted().join() === storedFileMembers

function collect(schema: z.core.$ZodType, traits: Traits): void {
  if (isDateOrTime(schema)) {
    traits.dateOrTime = true
    return
  }
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
      traits.optional = true
      collect(def.innerType, traits)
      return
    case 'nullable':
      traits.nullable = true
      collect(def.innerType, traits)
      return
    case 'default':
    case 'prefault':
      traits.optional = true
      traits.fallback = def.defaultValue
      collect(def.innerType, traits)
      return
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      collect(def.innerType, traits)
      return
    case 'lazy':
      collect(def.getter(), traits)
      return
    case 'pipe':
      // A transform before a schema prepares values for it, so text is converted for that schema.
      collect((def.in as z.core.$ZodTypes)._zod.def.type === 'transform' ? def.out : def.in, traits)
      return
    case 'union':
      for (const option of def.options) collect(option, traits)
      return
    case 'intersection':
      collect(def.left, traits)
      collect(def.right, traits)
      return
    case 'object':
      traits.shape = { ...traits.shape, ...def.shape }
      traits.isLoose ||= def.catchall !== undefined && def.catchall._zod.def.type !== 'never'
      return
    case 'record':
      traits.values = def.valueType
      return
    case 'array':
      traits.element = def.element
      return
    case 'set':
      traits.element = def.valueType
      return
    case 'string':
    case 'template_literal':
      traits.text = true
      return
    case 'number':
      traits.number = true
      return
    case 'boolean':
      traits.boolean = true
      return
    case 'null':
      traits.nullable = true
      return
    case 'undefined':
    case 'void':
      traits.optional = true
      return
    case 'enum':
      collectValues(Object.values(def.entries), traits)
      return
    case 'literal':
      collectValues(def.values, traits)
      return
    case 'any':
    case 'unknown':
    case 'custom':
    case 'transform':
      traits.any = true
  }
}

function collectValues(values: readonly unknown[], traits: Traits): void {
  for (const value of values) {
    if (typeof value === 'string') traits.text = true
    else if (typeof value === 'number') traits.number = true
    else if (typeof value === 'boolean') traits.boolean = true
    else if (value === null) traits.nullable = true
  }
}
