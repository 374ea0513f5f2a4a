import {
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  validate,
  visit,
} from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { MAX_COMPLEXITY, scoreOf, TooManyFields } from './complexity.ts'
import { MAX_DEPTH, nestingOf } from './nesting.ts'
import { coerceVariables } from './operation-variables.ts'
import type { RequestContext } from './request-context.ts'
import { pathInDocument } from './validation-path.ts'
import { rulesBefore, validationRules } from './validation-rules.ts'

/** One query or mutation, as it came. */
export interface OperationRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | undefined
}

/** Ready to be executed, if its score is within what the caller may ask. */
export interface Prepared {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly request: OperationRequest
  readonly score: number
  /** Everything of what is asked is about the schema itself. */
  readonly isIntrospection: boolean
}

/** What an operation is not executed for. */
export interface Rejected {
  readonly errors: readonly GraphQLError[]
}

export const isRejected = (prepared: Prepared | Rejected): prepared is Rejected => 'errors' in prepared

const MOST_ERRORS = 5

/**
 * Parses, validates, measures and executes operations of one schema.
 *
 * @see spec/graphql-contract.md 2, 4.1
 */
export class Engine {
  readonly schema: GraphQLSchema
  readonly #enveloped: ReturnType<ReturnType<typeof createYoga>['getEnveloped']>

  constructor(schema: GraphQLSchema) {
    this.schema = schema
    const yoga = createYoga({
      schema,
      graphiql: false,
      landingPage: false,
      logging: false,
      maskedErrors: false,
      multipart: false,
      batching: false,
      plugins: [ourValidation],
    })
    this.#enveloped = yoga.getEnveloped({} as never)
  }

  prepare(request: OperationRequest, isSignedIn: boolean): Prepared | Rejected {
    const document = this.#documentOf(request.query)
    if (document instanceof GraphQLError) return { errors: [document] }
    const operation = operationIn(document, request.operationName)
    if (operation instanceof GraphQLError) return { errors: [operation] }
    const flaws = this.#enveloped.validate(this.schema, document) as readonly GraphQLError[]
    if (flaws.length > 0) return { errors: flaws }
    const { values, errors } = coerceVariables(this.schema, operation, request.variables)
    if (errors.length > 0) return { errors }
    const fragments = fragmentsOf(document)
    const who = isSignedIn ? 'signedIn' : 'anonymous'
    const nested = nestingErrors(nestingOf({ fragments }, operation), MAX_DEPTH[who])
    try {
      const score = scoreOf({ schema: this.schema, fragments, variables: values }, operation)
      const isIntrospection = asksOnlyForSchema(operation)
      const limit = limitOf(isSignedIn, isIntrospection)
      const rejections = [...(score > limit ? [tooComplex(score, limit)] : []), ...nested]
      return rejections.length > 0 ? { errors: rejections } : { document, operation, request, score, isIntrospection }
    } catch (error) {
      if (!(error instanceof TooManyFields)) throw error
      return { errors: [tooComplex(error.count, limitOf(isSignedIn, false)), ...nested] }
    }
  }

  async execute({ document, request }: Prepared, context: RequestContext): Promise<ExecutionResult> {
    const result = await this.#enveloped.execute({
      schema: this.schema,
      document,
      contextValue: context,
      variableValues: request.variables,
      operationName: request.operationName ?? null,
    })
    return result as ExecutionResult
  }

  #documentOf(query: string): DocumentNode | GraphQLError {
    if (query.trim() === '') return new GraphQLError('Unexpected end of document', { nodes: [] })
    try {
      return withTextIids(this.#enveloped.parse(query) as DocumentNode)
    } catch (error) {
      if (error instanceof GraphQLError) return error
      throw error
    }
  }
}

export const limitOf = (isSignedIn: boolean, isIntrospection: boolean): number =>
  isSignedIn || isIntrospection ? MAX_COMPLEXITY.signedIn : MAX_COMPLEXITY.anonymous

export const tooComplex = (score: number, limit: number): GraphQLError =>
  new GraphQLError(`Query has complexity of ${score}, which exceeds max complexity of ${limit}`)

/** Validates with our rules; what they find gets its path. */
const ourValidation: Plugin = {
  onValidate({ setValidationFn }) {
    setValidationFn((schema: GraphQLSchema, document: DocumentNode) => {
      const repeats = validate(schema, document, rulesBefore, { maxErrors: MOST_ERRORS })
      const errors =
        repeats.length > 0 ? repeats : validate(schema, document, validationRules, { maxErrors: MOST_ERRORS })
      return errors.slice(0, MOST_ERRORS).map((error) => withPath(document, error))
    })
  },
}

function withPath(document: DocumentNode, error: GraphQLError): GraphQLError {
  const [node] = error.nodes ?? []
  if (node === undefined) return error
  const { message, nodes, extensions } = error
  return new GraphQLError(message, { nodes: nodes!, path: pathInDocument(document, node), extensions })
}

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
  const names = Object.entries(recursive).map(([name, times]) => `"${name}"=>${times}`)
  return [
    ...(depth > maxDepth
      ? [new GraphQLError(`Query has depth of ${depth}, which exceeds max depth of ${maxDepth}`)]
      : []),
    ...(names.length > 0
      ? [
          new GraphQLError(
            `Recursive query - too many of fields '{${names.join(', ')}}' detected\nin single branch of the query`,
          ),
        ]
      : []),
  ]
}

/** `pipeline(iid: 58)` is written for the platform, whose argument takes a number as well. */
function withTextIids(document: DocumentNode): DocumentNode {
  return visit(document, {
    Field(field) {
      if (field.name.value !== 'pipeline') return undefined
      const isNumber = (argument: (typeof field.arguments & object)[number]) =>
        argument.name.value === 'iid' && argument.value.kind === Kind.INT
      if (!field.arguments?.some(isNumber)) return undefined
      return {
        ...field,
        arguments: field.arguments.map((argument) =>
          isNumber(argument) ? { ...argument, value: { ...argument.value, kind: Kind.STRING } } : argument,
        ),
      }
    },
  })
}
