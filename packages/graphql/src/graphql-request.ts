import type { RouteRequest } from '@penstock/http'
import type { OperationRequest } from './engine.ts'
import { GraphqlRefusal } from './graphql-refusal.ts'
import { requireModestJson } from './json-limits.ts'

/** What a request asks: one operation, or several that are answered together. */
export interface GraphqlRequest {
  readonly operations: readonly OperationRequest[]
  readonly isBatch: boolean
  /** Against the schema without what is deprecated. */
  readonly removesDeprecated: boolean
}

const MAX_QUERY_CHARACTERS = 10_000

/**
 * @throws GraphqlRefusal
 * @see spec/graphql-contract.md 1.1, 1.2
 */
export function graphqlRequestOf({ query, body, form, method }: RouteRequest): GraphqlRequest {
  if (form === undefined)
    requireModestJson(body, (message) => new GraphqlRefusal(400, message, { isBeforeGraphql: true }))
  const sent: Parameters = method === 'POST' ? { ...query, ...asObject(body) } : query
  const batch = Array.isArray(body) ? body : Array.isArray(sent._json) ? sent._json : undefined
  const operations = batch === undefined ? [single(sent)] : batch.map(ofBatch)
  if (operations.some((each) => [...each.query].length > MAX_QUERY_CHARACTERS)) {
    throw new GraphqlRefusal(422, 'Query too large')
  }
  return {
    operations,
    isBatch: batch !== undefined,
    removesDeprecated: isTruthy(sent.remove_deprecated ?? query.remove_deprecated),
  }
}

type Parameters = Readonly<Record<string, unknown>>

const asObject = (value: unknown): Parameters =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Parameters) : {}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const single = ({ query, variables, operationName }: Parameters): OperationRequest => ({
  query: textOf(query),
  variables: variablesIn(variables),
  operationName: textOf(operationName) || undefined,
})

/** Here a text is no variables, where a single request would have it parsed. */
function ofBatch(element: unknown): OperationRequest {
  const { query, variables, operationName } = asObject(element)
  return { query: textOf(query), variables: asObject(variables), operationName: textOf(operationName) || undefined }
}

function variablesIn(given: unknown): Readonly<Record<string, unknown>> {
  if (given === undefined || given === null || given === '') return {}
  const value = typeof given === 'string' ? parsed(given) : given
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new GraphqlRefusal(422, `Unexpected parameter: ${JSON.stringify(given)}`)
  }
  return value as Record<string, unknown>
}

function parsed(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new GraphqlRefusal(422, 'variables is not valid JSON')
  }
  requireModestJson(value, (message) => new GraphqlRefusal(422, message))
  return value
}

const truthy = new Set(['true', '1', 'yes', 'on', 't', 'y'])

const isTruthy = (value: unknown): boolean => value === true || value === 1 || truthy.has(textOf(value).toLowerCase())
