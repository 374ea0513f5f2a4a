import type { FormEntry } from '@penstock/http'
import { RestError } from './rest-error.ts'

/** What a request says, wherever it says it. */
export interface RequestParameters {
  /** By their names in REST; nested ones as arrays and objects. Values that came as text are text. */
  readonly values: Readonly<Record<string, unknown>>
  /** All values of the plain names that came more than once; in `values` they have their last. */
  readonly repeated: ReadonlyMap<string, readonly unknown[]>
}

export interface ParameterSources {
  readonly query: readonly FormEntry[]
  /** A form's entries, else the value of a JSON body; anything but an object says nothing. */
  readonly form?: readonly FormEntry[] | undefined
  readonly body?: unknown
  /** Decoded. */
  readonly path: Readonly<Record<string, string>>
}

/**
 * The parameters that identify the caller. A list or an object would be ignored, and the request would run as another
 * caller.
 */
const callerNames = ['sudo', 'private_token', 'access_token', 'bearer_token', 'job_token']

/** Of names (`a[b][]`) and of JSON alike. */
const MAX_DEPTH = 32

/**
 * Returns one set of parameters: the path wins over the body, and the body over the query.
 *
 * @throws RestError 400 for a parameter that identifies the caller without having exactly one value, for NUL or half a
 *   surrogate pair anywhere, and for values that are nested too deeply
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
  return { values, repeated }
}

function validateCallerParameters({ values, repeated }: RequestParameters): void {
  for (const name of callerNames) {
    const value = Object.hasOwn(values, name) ? (values[name] ?? '') : ''
    const isSingle = (typeof value === 'string' || typeof value === 'number') && !repeated.has(name)
    // JSON may have names that only forms read as lists, and a form may have names with an unclosed bracket.
    const isMisspelled = Object.keys(values).some((other) => other.startsWith(`${name}[`))
    if (!isSingle || isMisspelled) throw new RestError(400, { error: `${name} is invalid` })
  }
}

function fromJson(body: unknown): RequestParameters {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return { values: isObject ? (body as Record<string, unknown>) : {}, repeated: new Map() }
}

/** Objects that are still being filled are maps, so that no name means anything to JavaScript. */
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

/** `files[][path]` → files, '', path. Anything that is not written so is a name as it stands. */
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

/** The element that a name after `[]` belongs to: the last one, until that has such a name already. */
function elementFor(elements: unknown[], keys: readonly string[]): Node {
  const last = elements.at(-1)
  if (last instanceof Map && !has(last, keys)) return last
  const element: Node = new Map()
  elements.push(element)
  return element
}

function has(node: Node, [key, ...rest]: readonly string[]): boolean {
  // `[]` takes as many as come.
  if (key === undefined || key === '' || rest[0] === '') return false
  const child = node.get(key)
  return child instanceof Map && rest.length > 0 ? has(child, rest) : node.has(key)
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return value
  return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]))
}

/** Neither database keeps such text, and no other client could read it. A file is bytes, and may hold anything. */
function validateText(values: unknown): void {
  const waiting: { value: unknown; depth: number }[] = [{ value: values, depth: 0 }]
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const { value, depth } = entry
    if (typeof value === 'string' && invalidCharacters.test(value)) throw badRequest()
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue
    if (depth > MAX_DEPTH) throw badRequest()
    if (Array.isArray(value)) {
      for (const inner of value) waiting.push({ value: inner, depth: depth + 1 })
      continue
    }
    for (const [name, inner] of Object.entries(value)) {
      if (invalidCharacters.test(name)) throw badRequest()
      waiting.push({ value: inner, depth: depth + 1 })
    }
  }
}

const invalidCharacters = /[\0\p{Surrogate}]/u

export const badRequest = (): RestError => new RestError(400, { error: 'Bad Request' })
