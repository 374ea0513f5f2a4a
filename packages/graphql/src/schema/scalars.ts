import { instantMs } from '@penstock/core'
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql'
import { type GlobalIds, type IdScalar, idScalars } from './global-id.ts'

const day = /^\d{4}-\d{2}-\d{2}$/

/** Formats milliseconds since 1970; leaves a day as it is. */
const printedTime = (value: unknown): unknown =>
  typeof value === 'number' ? `${new Date(value).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z` : value

function parseInstant(value: unknown): string {
  if (typeof value === 'string' && instantMs(value.trim()) !== undefined) return value.trim()
  throw new GraphQLError(`${JSON.stringify(value)} is not a valid date or time`)
}

function parseDay(value: unknown): string {
  const text = parseInstant(value).slice(0, 'YYYY-MM-DD'.length)
  if (day.test(text)) return text
  throw new GraphQLError(`${JSON.stringify(value)} is not a valid date`)
}

function parseNumber(value: unknown): number {
  if (typeof value === 'number') return value
  throw new GraphQLError(`${JSON.stringify(value)} is not a number`)
}

function parseInteger(value: unknown): string {
  if (Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d{1,100}$/.test(value))) return String(value)
  throw new GraphQLError(`${JSON.stringify(value)} is not an integer`)
}

function parseInputValue(value: unknown): unknown {
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value)
  if (isPlain) return value
  throw new GraphQLError('An input must be a string, a number, a boolean or an array')
}

/** The characters that have a meaning in regular expressions. */
const patternCharacters = /[\\^$.|?*+()[\]{}]/

function parsePattern(value: unknown): string {
  if (typeof value !== 'string') throw new GraphQLError(`${JSON.stringify(value)} is not a text`)
  if (!patternCharacters.test(value)) return value
  throw new GraphQLError('Regular expressions are not supported, only plain text')
}

interface ScalarRow {
  readonly description: string
  readonly serialize: (value: unknown) => unknown
  readonly parseValue: (value: unknown) => unknown
}

const unchanged = (value: unknown): unknown => value

const plainScalars: Readonly<Record<string, ScalarRow>> = {
  Time: {
    description: 'Moment or date, in ISO 8601: 2025-03-01T10:00:00Z',
    serialize: printedTime,
    parseValue: parseInstant,
  },
  Date: { description: 'Calendar day: 2025-03-01', serialize: unchanged, parseValue: parseDay },
  ISO8601Date: { description: 'Calendar day: 2025-03-01', serialize: unchanged, parseValue: parseDay },
  Duration: { description: 'Seconds, with a fraction', serialize: unchanged, parseValue: parseNumber },
  BigInt: {
    description: 'Integer beyond 32 bits, sent as a string',
    serialize: (value) => String(value),
    parseValue: parseInteger,
  },
  UntrustedRegexp: {
    description: 'Plain text to search for; characters with a meaning in regular expressions are rejected',
    serialize: unchanged,
    parseValue: parsePattern,
  },
  JSON: { description: 'Any JSON value', serialize: unchanged, parseValue: unchanged },
  CiInputsValue: {
    description: 'Value of a CI input: string, number, boolean or array',
    serialize: unchanged,
    parseValue: parseInputValue,
  },
}

/** Returns all scalars of the schema besides the standard ones. */
export function scalarsOf(globalIds: GlobalIds): GraphQLScalarType[] {
  const plain = Object.entries(plainScalars).map(
    ([name, row]) =>
      new GraphQLScalarType({ name, ...row, parseLiteral: withPosition((node) => row.parseValue(literal(node))) }),
  )
  const ids = (Object.keys(idScalars) as IdScalar[]).map((name) => {
    const parseValue = (value: unknown) =>
      name === 'NamespaceID' ? globalIds.referenceIn(value, name) : globalIds.numberIn(value, name)
    return new GraphQLScalarType({
      name,
      description: `Global ID of a ${idScalars[name].models.join(' or a ')}`,
      serialize: unchanged,
      parseValue,
      parseLiteral: withPosition((node) => parseValue(node.kind === Kind.STRING ? node.value : literal(node))),
    })
  })
  return [...plain, ...ids]
}

/** Adds the literal's position to errors. Validation passes such an error on unchanged and needs the position in it. */
function withPosition(parse: (node: ValueNode) => unknown): (node: ValueNode) => unknown {
  return (node) => {
    try {
      return parse(node)
    } catch (error) {
      throw error instanceof GraphQLError ? new GraphQLError(error.message, { nodes: node }) : error
    }
  }
}

const literal = (node: ValueNode): unknown => valueFromASTUntyped(node)
