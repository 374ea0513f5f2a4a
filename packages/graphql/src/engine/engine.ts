import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import type { RequestContext } from '../request/request-context.ts'
import { MAX_COMPLEXITY, scoreOf } from './complexity.ts'
import { MAX_DEPTH, nestingOf } from './nesting.ts'
import { coerceVariables } from './operation-variables.ts'
import { parseDocument } from './parse-document.ts'
import { RecentDocuments } from './recent-documents.ts'
import { TraversalBudget, TraversalBudgetExceeded } from './traversal-budget.ts'
import { type CpuTimer, processCpuTimer, validateDocument } from './validate-document.ts'
import { ValidationTime } from './validation-time.ts'

/** A query or mutation, as the client sent it. */
export interface OperationRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | undefined
}

/**
 * A request with a document that is syntactically correct, and the operation to execute. The document has not been
 * validated yet.
 */
export interface ParsedOperation {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly request: OperationRequest
}

/** An operation that is valid and within the limits. */
export interface PreparedOperation extends ParsedOperation {
  readonly score: number
  /** Whether all root fields are about the schema itself. */
  readonly isIntrospection: boolean
}

/** An operation that is not executed. */
export interface RejectedOperation {
  readonly errors: readonly GraphQLError[]
  /** The complexity, if it exceeds the limit of the caller. */
  readonly score?: number
}

export const isRejected = (result: ParsedOperation | RejectedOperation): result is RejectedOperation =>
  'errors' in result

/** Parses, validates, measures and executes operations of one schema. */
export class Engine {
  readonly #schema: GraphQLSchema
  readonly #cpuTimer: CpuTimer
  readonly #validDocuments = new RecentDocuments()

  constructor(schema: GraphQLSchema, cpuTimer: CpuTimer = processCpuTimer) {
    this.#schema = schema
    this.#cpuTimer = cpuTimer
  }

  parse(request: OperationRequest): ParsedOperation | RejectedOperation {
    const document = this.#validDocuments.get(request.query) ?? parseDocument(request.query)
    if (document instanceof GraphQLError) return { errors: [document] }
    const operation = operationIn(document, request.operationName)
    return operation instanceof GraphQLError ? { errors: [operation] } : { document, operation, request }
  }

  /** @param validationTime the time that all operations of the request share */
  prepare(
    parsed: ParsedOperation,
    isSignedIn: boolean,
    validationTime = new ValidationTime(),
  ): PreparedOperation | RejectedOperation {
    const { document, operation, request } = parsed
    const validationErrors = this.#validate(request.query, document, validationTime)
    if (validationErrors.length > 0) return { errors: validationErrors }
    const { values, errors } = coerceVariables(this.#schema, operation, request.variables)
    if (errors.length > 0) return { errors }
    const selection = {
      schema: this.#schema,
      fragments: fragmentsOf(document),
      variables: values,
      traversal: new TraversalBudget(),
    }
    const isIntrospection = isIntrospectionOnly(operation)
    const limit = complexityLimit(isSignedIn, isIntrospection)
    try {
      const score = scoreOf(selection, operation)
      const nested = nestingErrors(nestingOf(selection, operation), MAX_DEPTH[isSignedIn ? 'signedIn' : 'anonymous'])
      if (score > limit) return { errors: [complexityError(score, limit), ...nested], score }
      return nested.length > 0 ? { errors: nested } : { ...parsed, score, isIntrospection }
    } catch (error) {
      if (!(error instanceof TraversalBudgetExceeded)) throw error
      return { errors: [complexityError(error.steps, limit)], score: error.steps }
    }
  }

  async execute({ document, request }: PreparedOperation, context: RequestContext): Promise<ExecutionResult> {
    return execute({
      schema: this.#schema,
      document,
      contextValue: context,
      variableValues: request.variables,
      operationName: request.operationName ?? null,
    })
  }

  #validate(query: string, document: DocumentNode, time: ValidationTime): readonly GraphQLError[] {
    if (this.#validDocuments.get(query) === document) return []
    const errors = validateDocument(this.#schema, document, this.#cpuTimer, time)
    if (errors.length === 0) this.#validDocuments.add(query, document)
    return errors
  }
}

export const complexityLimit = (isSignedIn: boolean, isIntrospection: boolean): number =>
  isSignedIn || isIntrospection ? MAX_COMPLEXITY.signedIn : MAX_COMPLEXITY.anonymous

export const complexityError = (score: number, limit: number): GraphQLError =>
  new GraphQLError(`Query has complexity of ${score}, which exceeds max complexity of ${limit}`)

function operationIn(document: DocumentNode, name: string | undefined): OperationDefinitionNode | GraphQLError {
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
  if (name !== undefined) {
    return operations.find((each) => each.name?.value === name) ?? new GraphQLError(`No operation named "${name}"`)
  }
  return operations.length === 1 ? operations[0]! : new GraphQLError('An operation name is required')
}

const fragmentsOf = ({ definitions }: DocumentNode): Record<string, FragmentDefinitionNode> =>
  Object.fromEntries(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each]] : [])),
  )

const schemaFields = new Set(['__schema', '__type', '__typename'])

const isIntrospectionOnly = ({ selectionSet }: OperationDefinitionNode): boolean =>
  selectionSet.selections.every((each) => each.kind === Kind.FIELD && schemaFields.has(each.name.value))

function nestingErrors({ depth, recursive }: ReturnType<typeof nestingOf>, maxDepth: number): GraphQLError[] {
  return [
    ...(depth > maxDepth
      ? [new GraphQLError(`Query has depth of ${depth}, which exceeds max depth of ${maxDepth}`)]
      : []),
    ...(recursive === undefined
      ? []
      : [
          new GraphQLError(
            `Recursive query - too many of fields '{"${recursive.name}"=>${recursive.times}}' detected\nin single branch of the query`,
          ),
        ]),
  ]
}
