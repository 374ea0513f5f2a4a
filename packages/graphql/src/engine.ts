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
import { createYoga, type Plugin } from 'graphql-yoga'
import { MAX_COMPLEXITY, scoreOf } from './complexity.ts'
import { MAX_DEPTH, nestingOf } from './nesting.ts'
import { coerceVariables } from './operation-variables.ts'
import { parseDocument } from './parse-document.ts'
import { RecentDocuments } from './recent-documents.ts'
import type { RequestContext } from './request-context.ts'
import { Looks, TooManyLooks } from './selected-fields.ts'
import { type Effort, effortOfProcess, flawsOf } from './validate-document.ts'

/** One query or mutation, as it came. */
export interface OperationRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | undefined
}

/** One that can be read: which operation of its document is wanted. Whether that makes sense is not known yet. */
export interface Readable {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly request: OperationRequest
}

/** Ready to be executed. */
export interface Prepared extends Readable {
  readonly score: number
  /** Everything of what is asked is about the schema itself. */
  readonly isIntrospection: boolean
}

/** What an operation is not executed for. */
export interface Rejected {
  readonly errors: readonly GraphQLError[]
  /** Above what the caller may ask. */
  readonly score?: number
}

export const isRejected = (result: Readable | Rejected): result is Rejected => 'errors' in result

/** Yoga's own executor answers with the fields in the order in which they were found, not in that of the document. */
const byGraphqlJs: Plugin = { onExecute: ({ setExecuteFn }) => setExecuteFn(execute) }

/**
 * Reads, validates, measures and executes operations of one schema.
 *
 * @see spec/graphql-contract.md 2, 4.1
 */
export class Engine {
  readonly #schema: GraphQLSchema
  readonly #effort: Effort
  readonly #valid = new RecentDocuments()
  readonly #execute: ReturnType<ReturnType<typeof createYoga>['getEnveloped']>['execute']

  constructor(schema: GraphQLSchema, effort: Effort = effortOfProcess) {
    this.#schema = schema
    this.#effort = effort
    const yoga = createYoga({
      schema,
      graphiql: false,
      landingPage: false,
      logging: false,
      maskedErrors: false,
      multipart: false,
      batching: false,
      // Its own keeps a thousand documents, however long.
      parserAndValidationCache: false,
      plugins: [byGraphqlJs],
    })
    this.#execute = yoga.getEnveloped({} as never).execute
  }

  read(request: OperationRequest): Readable | Rejected {
    const document = this.#valid.get(request.query) ?? parseDocument(request.query)
    if (document instanceof GraphQLError) return { errors: [document] }
    const operation = operationIn(document, request.operationName)
    return operation instanceof GraphQLError ? { errors: [operation] } : { document, operation, request }
  }

  prepare(readable: Readable, isSignedIn: boolean): Prepared | Rejected {
    const { document, operation, request } = readable
    const flaws = this.#flawsOf(request.query, document)
    if (flaws.length > 0) return { errors: flaws }
    const { values, errors } = coerceVariables(this.#schema, operation, request.variables)
    if (errors.length > 0) return { errors }
    const measuring = {
      schema: this.#schema,
      fragments: fragmentsOf(document),
      variables: values,
      looks: new Looks(),
    }
    const isIntrospection = asksOnlyForSchema(operation)
    const limit = limitOf(isSignedIn, isIntrospection)
    try {
      const score = scoreOf(measuring, operation)
      const nested = nestingErrors(nestingOf(measuring, operation), MAX_DEPTH[isSignedIn ? 'signedIn' : 'anonymous'])
      if (score > limit) return { errors: [tooComplex(score, limit), ...nested], score }
      return nested.length > 0 ? { errors: nested } : { ...readable, score, isIntrospection }
    } catch (error) {
      if (!(error instanceof TooManyLooks)) throw error
      return { errors: [tooComplex(error.count, limit)], score: error.count }
    }
  }

  async execute({ document, request }: Prepared, context: RequestContext): Promise<ExecutionResult> {
    const result = await this.#execute({
      schema: this.#schema,
      document,
      contextValue: context,
      variableValues: request.variables,
      operationName: request.operationName ?? null,
    })
    return result as ExecutionResult
  }

  #flawsOf(query: string, document: DocumentNode): readonly GraphQLError[] {
    if (this.#valid.get(query) === document) return []
    const flaws = flawsOf(this.#schema, document, this.#effort)
    if (flaws.length === 0) this.#valid.add(query, document)
    return flaws
  }
}

export const limitOf = (isSignedIn: boolean, isIntrospection: boolean): number =>
  isSignedIn || isIntrospection ? MAX_COMPLEXITY.signedIn : MAX_COMPLEXITY.anonymous

export const tooComplex = (score: number, limit: number): GraphQLError =>
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

const asksOnlyForSchema = ({ selectionSet }: OperationDefinitionNode): boolean =>
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
