import { parsePathParameters, withPathParameters } from '@penstock/http'
import { parametersOf, snakeCase } from './parameter-names.ts'
import { callerNames } from './request-parameters.ts'
import { RestError } from './rest-error.ts'
import type { Reasons, RestRoute } from './route.ts'
import { traitsOf } from './schema-traits.ts'

type ParameterMark =
  | { readonly mark: 'acted on' | 'stored and returned' }
  | { readonly mark: 'no effect' | 'refused'; readonly reason: string }

/** Returns the method and path of a route, with a colon for each path parameter. */
export const callPattern = ({ method, path }: Pick<RestRoute, 'method' | 'path'>): string =>
  `${method} ${withPathParameters(path, () => ':')}`

/** Returns every mark that a route gives to a parameter. A route that is declared correctly gives one, or none if it ignores it. */
export function parameterMarks(row: RestRoute, name: string): ParameterMark[] {
  const { stored = [], noEffect = {}, refused = {} } = row.parameters ?? {}
  const isInput = isInputOf(row, name)
  const isStored = stored.includes(name) || stored.includes(firstKey(name))
  return [
    ...(isInput && !isStored ? [{ mark: 'acted on' } as const] : []),
    ...(isStored && isInput ? [{ mark: 'stored and returned' } as const] : []),
    ...reasonsFor(noEffect, name, isInput).map((reason) => ({ mark: 'no effect', reason }) as const),
    ...reasonsFor(refused, name, isInput).map((reason) => ({ mark: 'refused', reason }) as const),
  ]
}

/**
 * Returns the reasons for a parameter. A reason for `custom_attributes` also applies to `custom_attributes[key]`,
 * unless the latter is part of the input.
 */
const reasonsFor = (reasons: Reasons, name: string, isInput: boolean): string[] =>
  [name, ...(isInput ? [] : [firstKey(name)])]
    .filter((each, index, names) => names.indexOf(each) === index && Object.hasOwn(reasons, each))
    .map((each) => reasons[each]!)

/** Returns whether a parameter is used: by the operation of the route, in its path, or to identify the caller. */
function isInputOf(row: RestRoute, name: string): boolean {
  const [first, ...rest] = keysOf(name)
  const parameter = parametersOf(row.operation.input, row.names).find((each) => each.name === first)
  if (parameter === undefined) {
    const isInPath = parsePathParameters(row.path).some((each) => each.name === first)
    return rest.length === 0 && (isInPath || callerNames.includes(first!))
  }
  let schema = parameter.schema
  for (const key of rest) {
    const { any, values, shape, element } = traitsOf(schema)
    if (any || values !== undefined) return true
    const members = shape ?? (element && traitsOf(element).shape) ?? {}
    const member = Object.entries(members).find(([member]) => snakeCase(member) === key)
    if (member === undefined) return false
    schema = member[1]
  }
  return true
}

/** Rejects the parameters that a route refuses. @throws RestError 400 */
export function requireSupported({ parameters }: RestRoute, values: Readonly<Record<string, unknown>>): void {
  const refused = parameters?.refused
  if (refused === undefined) return
  const found = keysOfNames(refused).find(([, keys]) => isAsked(values, keys))
  if (found !== undefined) throw new RestError(400, { error: `${found[0]} is not supported` })
}

type NameAndKeys = readonly [name: string, keys: readonly string[]]

/** The names by table, cached because every request of a route needs them. */
const cache = new WeakMap<Reasons, readonly NameAndKeys[]>()

function keysOfNames(reasons: Reasons): readonly NameAndKeys[] {
  const names = cache.get(reasons) ?? Object.keys(reasons).map((name) => [name, keysOf(name)] as const)
  cache.set(reasons, names)
  return names
}

/**
 * Returns whether the value of a parameter requests anything. An empty value and false do not: clients send them for
 * features that they do not use.
 */
function isAsked(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((each) => isAsked(each, key === undefined ? [] : [key, ...rest]))
  if (key !== undefined) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
    return isAsked((value as Readonly<Record<string, unknown>>)[key], rest)
  }
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return !nothing.has(value)
}

const nothing = new Set<unknown>([undefined, null, '', false, 'false'])

/** Returns the keys of a name: `not` and `labels` for `not[labels]`, `actions` and `path` for `actions[][path]`. */
const keysOf = (name: string): string[] => name.split(/[[\]]+/).filter((key) => key !== '')
const firstKey = (name: string): string => keysOf(name)[0]!
