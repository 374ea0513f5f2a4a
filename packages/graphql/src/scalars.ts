import { instantMs } from '@penstock/core'
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql'
import { type GlobalIds, type IdScalar, idScalars } from './global-id.ts'

const day = /^\d{4}-\d{2}-\d{2}$/

/** Milliseconds since 1970, or a day as it is. @see spec/graphql-contract.md 3.4 */
const printedTime = (value: unknown): unknown =>
  typeof value === 'number' ? `${new Date(value).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z` : value

function momentIn(value: unknown): string {
  if (typeof value === 'string' && instantMs(value.trim()) !== undefined) return value.trim()
  throw new GraphQLError(`${JSON.stringify(value)} is not a valid date or time`)
}

function dayIn(value: unknown): string {
  const text = momentIn(value).slice(0, 'YYYY-MM-DD'.length)
  if (day.test(text)) return text
  throw new GraphQLError(`${JSON.stringify(value)} is not a valid date`)
}

function numberIn(value: unknown): number {
  if (typeof value === 'number') return value
  throw new GraphQLError(`${JSON.stringify(value)} is not a number`)
}

function integerTextIn(value: unknown): string {
  if (Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d{1,100}$/.test(value))) return String(value)
  throw new GraphQLError(`${JSON.stringify(value)} is not an integer`)
}

function inputValueIn(value: unknown): unknown {
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value)
  if (isPlain) return value
  throw new GraphQLError('An input is a text, a number, a boolean or an array of such')
}

interface ScalarRow {
  readonly description: string
  readonly serialize: (value: unknown) => unknown
  readonly parseValue: (value: unknown) => unknown
}

const same = (value: unknown): unknown => value

const plainScalars: Readonly<Record<string, ScalarRow>> = {
  Time: {
    description: 'Moment or date, in ISO 8601: 2025-03-01T10:00:00Z',
    serialize: printedTime,
    parseValue: momentIn,
  },
  Date: { description: 'Calendar day: 2025-03-01', serialize: same, parseValue: dayIn },
  ISO8601Date: { description: 'Calendar day: 2025-03-01', serialize: same, parseValue: dayIn },
  Duration: { description: 'Seconds, with a fraction', serialize: same, parseValue: numberIn },
  BigInt: {
    description: 'Integer beyond 32 bits, sent as a string',
    serialize: (value) => String(value),
    parseValue: integerTextIn,
  },
  JSON: { description: 'Any JSON value', serialize: same, parseValue: same },
  CiInputsValue: {
    description: 'Value of a CI input: string, number, boolean or array',
    serialize: same,
    parseValue: inputValueIn,
  },
}

/** All scalars beside those of the language. */
export function scalarsOf(globalIds: GlobalIds): GraphQLScalarType[] {
  const plain = Object.entries(plainScalars).map(
    ([name, row]) =>
      new GraphQLScalarType({ name, ...row, parseLiteral: placed((node) => row.parseValue(literal(node))) }),
  )
  const ids = (Object.keys(idScalars) as IdScalar[]).map((name) => {
    const parseValue = (value: unknown) => globalIds.numberIn(value, name)
    return new GraphQLScalarType({
      name,
      description: `Global ID of a ${idScalars[name].models.join(' or a ')}`,
      serialize: same,
      parseValue,
      parseLiteral: placed((node) => parseValue(node.kind === Kind.STRING ? node.value : literal(node))),
    })
  })
  return [...plain, ...ids]
}

/** An error names the place of the literal: validation passes it on as it is, and looks for the place in it. */
function placed(parse: (node: ValueNode) => unknown): (node: ValueNode) => unknown {
  return (node) => {
    try {
      return parse(node)
    } catch (error) {
      throw error instanceof GraphQLError ? new GraphQLError(error.message, { nodes: node }) : error
    }
  }
}

const literal = (node: ValueNode): unknown => valueFromASTUntyped(node)
