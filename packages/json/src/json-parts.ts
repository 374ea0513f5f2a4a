/** The maximum size of an answer that is a list or an object, in bytes of JSON. Files are exempt. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** The weight up to which a value becomes one part. */
const PART_WEIGHT = 64 * 1024
/** The weight of anything besides its text. */
const NODE_WEIGHT = 16
/** The characters of a text that become one part. */
const SLICE_LENGTH = 256 * 1024

/**
 * Yields the JSON of a value in parts. Together they equal the text that `JSON.stringify` returns, but a long one is never in memory
 * as a whole. A value that JSON lacks is `null`.
 */
export function* jsonParts(value: unknown): Generator<string> {
  if (estimateWeight(value, PART_WEIGHT) <= PART_WEIGHT) yield JSON.stringify(value) ?? 'null'
  else if (typeof value === 'string') yield* textParts(value)
  else if (Array.isArray(value)) yield* arrayParts(value)
  else if ('toJSON' in (value as object)) yield* jsonParts((value as { toJSON(): unknown }).toJSON())
  else yield* objectParts(value as object)
}

/** Returns the name of the member of an object, or of the first object in a list, that has the most text. */
export function heaviestMember(value: unknown): string | undefined {
  const object: unknown = Array.isArray(value) ? value[0] : value
  if (typeof object !== 'object' || object === null) return undefined
  const weights = Object.entries(object).map(
    ([name, each]) => [name, estimateWeight(each, Number.POSITIVE_INFINITY)] as const,
  )
  return (
    weights.reduce((most, each) => (each[1] > most[1] ? each : most), ['', 0] as readonly [string, number])[0] ||
    undefined
  )
}

/** Estimates the length of a value's JSON. The estimate of a value that weighs more than the limit may end early. */
function estimateWeight(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return NODE_WEIGHT
  let weight = NODE_WEIGHT
  for (const [name, member] of Object.entries(value)) {
    weight += name.length + estimateWeight(member, limit - weight)
    if (weight > limit) break
  }
  return weight
}

function* textParts(text: string): Generator<string> {
  yield '"'
  for (let from = 0; from < text.length; ) {
    let end = Math.min(from + SLICE_LENGTH, text.length)
    // Half of a surrogate pair would be escaped.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    yield JSON.stringify(text.slice(from, end)).slice(1, -1)
    from = end
  }
  yield '"'
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

function* arrayParts(items: readonly unknown[]): Generator<string> {
  yield '['
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ','
    yield* jsonParts(item)
  }
  yield ']'
}

function* objectParts(object: object): Generator<string> {
  let separator = '{'
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue
    yield `${separator}${JSON.stringify(name)}:`
    yield* jsonParts(member)
    separator = ','
  }
  yield separator === '{' ? '{}' : '}'
}
