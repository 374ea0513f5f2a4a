import type { FormEntry } from '@penstock/http'
import { RestError } from './rest-error.ts'

/** The parameters of a request from its path, query and body. */
export interface RequestParameters {
  /** The values by REST name, with nested ones as arrays and objects. Values that were sent as text are strings. */
  readonly values: Readonly<Record<string, unknown>>
  /** All values of each plain name that occurs more than once. `values` has only the last one. */
  readonly repeated: ReadonlyMap<string, readonly unknown[]>
}

interface ParameterSources {
  readonly query: readonly FormEntry[]
  /** The entries of a form. */
  readonly form?: readonly FormEntry[] | undefined
  /** The value of a JSON body, which is used if there is no form. A value that is not an object has no parameters. */
  readonly body?: unknown
  /** The decoded parameters of the path. */
  readonly path: Readonly<Record<string, string>>
}

/**
 * The parameters that identify the caller. They must have a single value: a list or an object would be ignored, and the
 * request would run as another caller.
 */
export const callerNames: readonly string[] = ['sudo', 'private_token', 'access_token', 'bearer_token', 'job_token']

/** The maximum nesting of names (`a[b][]`) and of JSON. */
const MAX_DEPTH = 32

/**
 * Merges the parameters of a request. The path takes precedence over the body, and the body over the query.
 *
 * @throws RestError 400 if a parameter that identifies the caller does not have exactly one value, if any text has NUL or
 *   an unpaired surrogate, and if values are nested too deeply
 */
export function mergeParameters({ query, form, body, path }: ParameterSources): RequestParameters {
  const inQuery = fromEntries(query)
  const inBody = form === undefined ? fromJson(body) : fromEntries(form)
  validateCallerParameters(inQuery)
  validateCallerParameters(inBody)
  const values = { ...inQuery.values, ...inBody.values, ...path }
  validateText(values)
  const repeated = new Map(
    [...inQuery.repeated].filter(([name]) => !Object.hasOwn(inBody.values, name)).concat([...inBody.repeated]),
  )
  for (const name of Object.keys(path)) repeated.delete(name)
  validateText([...repeated.values()])
  return { values, repeated }
}

function validateCallerParameters({ values, repeated }: RequestParameters): void {
  for (const name of callerNames) {
    const value = Object.hasOwn(values, name) ? (values[name] ?? '') : ''
    const isSingle = (typeof value === 'string' || typeof value === 'number') && !repeated.has(name)
    // JSON may have names such as `sudo[]`, which only forms read as lists, and forms may have an unclosed bracket.
    const isMisspelled = Object.keys(values).some((other) => other.startsWith(`${name}[`))
    if (!isSingle || isMisspelled) throw new RestError(400, { error: `${name} is invalid` })
  }
}

function fromJson(body: unknown): RequestParameters {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return { values: isObject ? (body as Record<string, unknown>) : {}, repeated: new Map() }
}

/** An object while it is built. A map has no names with a special meaning, such as `__proto__`. */
type Node = Map<string, unknown>

function fromEntries(entries: readonly FormEntry[]): RequestParameters {
  const root: Node = new Map()
  const repeated = new Map<string, unknown[]>()
  for (const [name, value] of entries) {
    const keys = keysOf(name)
    if (keys.length === 1 && root.has(name)) {
      const values = repeated.get(name)
      if (values === undefined) repeated.set(name, [root.get(name), value])
      else values.push(value)
    }
    insert(root, keys, value)
  }
  return { values: plain(root) as Record<string, unknown>, repeated }
}

/** Splits `files[][path]` into `files`, '' and `path`. A name in another format is returned as one key. */
function keysOf(name: string): string[] {
  if (name.split('[', MAX_DEPTH + 1).length > MAX_DEPTH) throw badRequest()
  const match = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name)
  return match === null ? [name] : [match[1]!, ...match[2]!.slice(1, -1).split('][')]
}

function insert(node: Node, keys: readonly string[], value: unknown): void {
  const [key, next, ...rest] = keys as [string, ...string[]]
  const before = node.get(key)
  if (next === undefined) {
    node.set(key, value)
  } else if (next !== '') {
    const child: Node = before instanceof Map ? before : new Map()
    node.set(key, child)
    insert(child, [next, ...rest], value)
  } else {
    const elements: unknown[] = Array.isArray(before) ? before : []
    node.set(key, elements)
    if (rest.length === 0) elements.push(value)
    else insert(elementFor(elements, rest), rest, value)
  }
}

/** Returns the list element for a name after `[]`: the last element, or a new one if the last already has that name. */
function elementFor(elements: unknown[], keys: readonly string[]): Node {
  const last = elements.at(-1)
  if (last instanceof Map && !has(last, keys)) return last
  const element: Node = new Map()
  elements.push(element)
  return element
}

function has(node: Node, [key, ...rest]: readonly string[]): boolean {
  // A list accepts any number of values.
  if (key === undefined || key === '' || rest[0] === '') return false
  const child = node.get(key)
  return child instanceof Map && rest.length > 0 ? has(child, rest) : node.has(key)
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return value
  return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]))
}

/** Rejects NUL and unpaired surrogates, which the databases cannot store. Files may have any bytes. @throws RestError 400 */
function validateText(values: unknown): void {
  const waiting: { value: unknown; depth: number }[] = [{ value: values, depth: 0 }]
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const { value, depth } = entry
    if (typeof value === 'string' && !isStorable(value)) throw badRequest()
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue
    if (depth > MAX_DEPTH) throw badRequest()
    if (Array.isArray(value)) {
      for (const inner of value) waiting.push({ value: inner, depth: depth + 1 })
      continue
    }
    for (const [name, inner] of Object.entries(value)) {
      if (!isStorable(name)) throw badRequest()
      waiting.push({ value: inner, depth: depth + 1 })
    }
  }
}

/** Much faster than a regular expression, which matters for files of many megabytes. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

export const badRequest = (): RestError => new RestError(400, { error: 'Bad Request' })
