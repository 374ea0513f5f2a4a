import { exceededJsonLimit, type JsonLimits, jsonExcess } from '@penstock/json'

const MAX_ELEMENTS = 50_000
const MAX_MEMBERS = 50_000

/**
 * The limits of a request's JSON, which are checked on its bytes before it is parsed: 32 levels and 100,000 values,
 * without the outermost one.
 */
export const graphqlJsonLimits: JsonLimits = { containers: 20_000, values: 100_001, depth: 32 }

/**
 * Parses JSON from the text of a form field or a parameter.
 *
 * @throws SyntaxError; the error that `toError` creates if the text exceeds a limit
 */
export function parseLimitedJson(text: string, toError: (message: string) => Error): unknown {
  const excess = exceededJsonLimit(Buffer.from(text), graphqlJsonLimits)
  if (excess !== undefined) throw toError(`JSON ${jsonExcess(excess, graphqlJsonLimits[excess])}`)
  const value: unknown = JSON.parse(text)
  validateJsonLimits(value, toError)
  return value
}

/**
 * Rejects a value, parsed within `graphqlJsonLimits`, that has too many values in one list or object, or a number
 * beyond the range of a double.
 *
 * @throws the error that `toError` creates from the reason
 */
export function validateJsonLimits(root: unknown, toError: (message: string) => Error): void {
  const open: object[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw toError('JSON has a number that is too long')
    if (typeof value === 'object' && value !== null) open.push(value)
  }
  visit(root)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const children: readonly unknown[] = Array.isArray(next) ? next : Object.values(next)
    const limit = Array.isArray(next) ? MAX_ELEMENTS : MAX_MEMBERS
    if (children.length > limit) throw toError(`JSON has more than ${limit} values in one place`)
    for (const child of children) visit(child)
  }
}
