import type { InputSchema } from '@penstock/core'
import type { z } from 'zod'
import { shapeOf } from './schema-traits.ts'

/** The REST names of parameters that a route overrides: `{ group: 'id' }`. */
export type Names = Readonly<Record<string, string | undefined>>

export const noNames: Names = {}

export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Returns the REST name of an operation's parameter. */
export const restName = (key: string, names: Names = {}): string => names[key] ?? snakeCase(key)

/**
 * Returns the REST name for a path in an input: `files[0][file_path]` for `['files', 0, 'filePath']`. If the path ends with an
 * index, the name is that of the list: `iids` for `['iids', 0]`.
 */
export function restPath(path: readonly (string | number)[], names: Names = {}): string {
  const [first, ...rest] = typeof path.at(-1) === 'number' ? path.slice(0, -1) : path
  const inner = rest.map((key) => `[${typeof key === 'number' ? key : snakeCase(key)}]`)
  return [restName(String(first), names), ...inner].join('')
}

export interface Parameter {
  readonly key: string
  readonly name: string
  readonly schema: z.core.$ZodType
}

/** The member of an operation's input that comes from headers, and is never a parameter. */
export const HEADER_INPUT = 'captcha'

/** The parameters by input and names, cached because every request of a route needs the same ones. */
const cache = new WeakMap<InputSchema, WeakMap<Names, readonly Parameter[]>>()

/** Returns every parameter of an input, in order, with its key, REST name and schema. */
export function parametersOf(input: InputSchema, names: Names = noNames): readonly Parameter[] {
  const byNames = cache.get(input) ?? new WeakMap<Names, readonly Parameter[]>()
  cache.set(input, byNames)
  const parameters =
    byNames.get(names) ??
    Object.entries(shapeOf(input) ?? {})
      .filter(([key]) => key !== HEADER_INPUT)
      .map(([key, schema]) => ({ key, name: restName(key, names), schema }))
  byNames.set(names, parameters)
  return parameters
}
