import type { RouteRequest } from '@penstock/http'
import type { OperationRequest } from './engine.ts'
import { GraphqlRefusal } from './graphql-refusal.ts'
import { parseModestJson, requireModestJson } from './json-limits.ts'

/** What a request asks: one operation, or several that are answered together. */
export interface GraphqlRequest {
  readonly operations: readonly OperationRequest[]
  readonly isBatch: boolean
  /** Against the schema without what is deprecated. */
  readonly removesDeprecated: boolean
}

const MAX_QUERY_CHARACTERS = 10_000
/** Of a batch in all, each of whose documents takes its time. The platform's is that of one. */
const MAX_BATCH_CHARACTERS = 50_000
/** Of a value that is told back. */
const MAX_SHOWN_CHARACTERS = 100

/**
 * @throws GraphqlRefusal
 * @see spec/graphql-contract.md 1.1, 1.2
 */
export function graphqlRequestOf({ query, body: given, form, method }: RouteRequest): GraphqlRequest {
  if (form === undefined) requireModestJson(given, beforeGraphql)
  const body = form === undefined ? given : asForm(given)
  const sent: Parameters = method === 'POST' ? { ...query, ...asObject(body) } : query
  const batch = Array.isArray(body) ? body : Array.isArray(sent._json) ? sent._json : undefined
  const operations = batch === undefined ? [single(sent)] : batch.map(ofBatch)
  const lengths = operations.map((each) => lengthOf(each.query))
  const inAll = lengths.reduce((sum, length) => sum + length, 0)
  if (inAll > MAX_BATCH_CHARACTERS || lengths.some((length) => length > MAX_QUERY_CHARACTERS)) {
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

const beforeGraphql = (message: string) => new GraphqlRefusal(400, message, { isBeforeGraphql: true })

/** Multipart, as it is sent where files could be, has what would be the body in a field of that name. */
function asForm(form: unknown): unknown {
  const { operations, ...fields } = asObject(form)
  if (typeof operations !== 'string') return form
  let body: unknown
  try {
    body = parseModestJson(operations, beforeGraphql)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw beforeGraphql('operations is not valid JSON')
  }
  return Array.isArray(body) ? body : { ...fields, ...asObject(body) }
}

/** In whole characters, which are few for their code units only where there are many. */
const lengthOf = (text: string): number => (text.length > MAX_QUERY_CHARACTERS ? [...text].length : text.length)

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
    throw new GraphqlRefusal(422, `Unexpected parameter: ${JSON.stringify(given).slice(0, MAX_SHOWN_CHARACTERS)}`)
  }
  return value as Record<string, unknown>
}

function parsed(text: string): unknown {
  try {
    return parseModestJson(text, (message) => new GraphqlRefusal(422, message))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new GraphqlRefusal(422, 'variables is not valid JSON')
  }
}

const truthy = new Set(['true', '1', 'yes', 'on', 't', 'y'])

const isTruthy = (value: unknown): boolean => value === true || value === 1 || truthy.has(textOf(value).toLowerCase())
