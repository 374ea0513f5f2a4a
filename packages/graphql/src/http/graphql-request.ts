import type { RouteRequest } from '@penstock/http'
import type { OperationRequest } from '../engine/engine.ts'
import { GraphqlRequestError } from './graphql-request-error.ts'
import { parseLimitedJson } from './json-limits.ts'

/** The content of a request: one operation, or a batch of several. */
export interface GraphqlRequest {
  readonly operations: readonly OperationRequest[]
  readonly isBatch: boolean
  /** Whether to use the schema without deprecated items. */
  readonly removesDeprecated: boolean
}

/** The limit for each query, in characters of the decoded text. */
const MAX_QUERY_CHARACTERS = 10_000
/** The limit for an input value in an error message. */
const MAX_SHOWN_CHARACTERS = 100

/** Reads the operations of a request from its body or its query string. @throws GraphqlRequestError */
export function parseGraphqlRequest({ query, body: rawBody, form, method }: RouteRequest): GraphqlRequest {
  const body = form === undefined ? rawBody : formBody(rawBody)
  const parameters: Parameters = method === 'POST' ? { ...query, ...asObject(body) } : query
  const batch = Array.isArray(body) ? body : Array.isArray(parameters._json) ? parameters._json : undefined
  const operations = batch === undefined ? [singleOperation(parameters)] : batch.map(batchOperation)
  if (operations.some(({ query }) => isTooLong(query))) {
    throw new GraphqlRequestError(422, 'Query too large')
  }
  return {
    operations,
    isBatch: batch !== undefined,
    removesDeprecated: isTruthy(parameters.remove_deprecated ?? query.remove_deprecated),
  }
}

type Parameters = Readonly<Record<string, unknown>>

const asObject = (value: unknown): Parameters =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Parameters) : {}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const badRequest = (message: string) => new GraphqlRequestError(400, message)

/** Returns the fields of a form. In a multipart upload request, the field `operations` contains the JSON body. */
function formBody(form: unknown): unknown {
  const { operations, ...fields } = asObject(form)
  if (typeof operations !== 'string') return form
  let body: unknown
  try {
    body = parseLimitedJson(operations, badRequest)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw badRequest('operations is not valid JSON')
  }
  return Array.isArray(body) ? body : { ...fields, ...asObject(body) }
}

/** A character has at most two code units, so most texts need not be counted. */
const isTooLong = (text: string): boolean =>
  text.length > 2 * MAX_QUERY_CHARACTERS ||
  (text.length > MAX_QUERY_CHARACTERS && [...text].length > MAX_QUERY_CHARACTERS)

const singleOperation = ({ query, variables, operationName }: Parameters): OperationRequest => ({
  query: textOf(query),
  variables: variablesIn(variables),
  operationName: textOf(operationName) || undefined,
})

/** Reads an element of a batch. Unlike in a single request, variables in a string are ignored, as on GitLab. */
function batchOperation(element: unknown): OperationRequest {
  const { query, variables, operationName } = asObject(element)
  return { query: textOf(query), variables: asObject(variables), operationName: textOf(operationName) || undefined }
}

function variablesIn(variables: unknown): Readonly<Record<string, unknown>> {
  if (variables === undefined || variables === null || variables === '') return {}
  const value = typeof variables === 'string' ? parseVariables(variables) : variables
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new GraphqlRequestError(
      422,
      `Unexpected parameter: ${JSON.stringify(variables).slice(0, MAX_SHOWN_CHARACTERS)}`,
    )
  }
  return value as Record<string, unknown>
}

function parseVariables(text: string): unknown {
  try {
    return parseLimitedJson(text, (message) => new GraphqlRequestError(422, message))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new GraphqlRequestError(422, 'variables is not valid JSON')
  }
}

const truthy = new Set(['true', '1', 'yes', 'on', 't', 'y'])

const isTruthy = (value: unknown): boolean => value === true || value === 1 || truthy.has(textOf(value).toLowerCase())
