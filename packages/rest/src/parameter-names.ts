import type { InputSchema } from '@penstock/core'
import type { z } from 'zod'
import { shapeOf } from './schema-traits.ts'

/** A row's own names of parameters: `{ group: 'id' }`. */
export type Names = Readonly<Record<string, string | undefined>>

export const noNames: Names = {}

export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The name in REST of a parameter of an operation. */
export const restName = (key: string, names: Names = {}): string => names[key] ?? snakeCase(key)

/** `['files', 0, 'filePath']` → `files[0][file_path]`; an element that has no names within is its list: `iids`. */
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

/** What of an operation's input a request says in its headers and nowhere else. */
export const HEADER_INPUT = 'captcha'

/** A row asks the same for every request. */
const known = new WeakMap<InputSchema, WeakMap<Names, readonly Parameter[]>>()

/** Every parameter of an input: its key, its name in REST and its schema, in their order. */
export function parametersOf(input: InputSchema, names: Names = noNames): readonly Parameter[] {
  const byNames = known.get(input) ?? new WeakMap<Names, readonly Parameter[]>()
  known.set(input, byNames)
  const parameters =
    byNames.get(names) ??
    Object.entries(shapeOf(input) ?? {})
      .filter(([key]) => key !== HEADER_INPUT)
      .map(([key, schema]) => ({ key, name: restName(key, names), schema }))
  byNames.set(names, parameters)
  return parameters
}
