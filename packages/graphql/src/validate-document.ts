import process from 'node:process'
import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type ValidationRule,
  validate,
} from 'graphql'
import { pathInDocument } from './validation-path.ts'
import { rulesBefore, validationRules } from './validation-rules.ts'

/** Milliseconds of work so far, by whatever measure. */
export type Effort = () => number

/** Of the process: time in which others have the processor is not held against a document. */
export const effortOfProcess: Effort = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const MAX_ERRORS = 5
const MAX_EFFORT_MS = 200
const NODES_BETWEEN_LOOKS = 32

/**
 * What is wrong with a document, each with the path of its place; empty for nothing.
 *
 * @see spec/graphql-contract.md 2.1, 4.1
 */
export function flawsOf(schema: GraphQLSchema, document: DocumentNode, effort: Effort): readonly GraphQLError[] {
  const endMs = effort() + MAX_EFFORT_MS
  const inTime: ValidationRule = (): ASTVisitor => {
    let nodes = 0
    return {
      enter() {
        nodes += 1
        if (nodes % NODES_BETWEEN_LOOKS === 0 && effort() > endMs) throw new OutOfTime()
      },
    }
  }
  try {
    const find = (rules: readonly ValidationRule[]) =>
      validate(schema, document, [inTime, ...rules], { maxErrors: MAX_ERRORS })
    const repeats = find(rulesBefore)
    const errors = repeats.length > 0 ? repeats : find(validationRules)
    return errors.slice(0, MAX_ERRORS).map((error) => withPath(document, error))
  } catch (error) {
    if (error instanceof OutOfTime) return [new GraphQLError('Timeout on validation of query')]
    throw error
  }
}

class OutOfTime extends Error {
  override readonly name = 'OutOfTime'
}

function withPath(document: DocumentNode, error: GraphQLError): GraphQLError {
  const { message, nodes, extensions } = error
  const node = nodes?.[0]
  if (node === undefined) return error
  return new GraphQLError(message, { nodes: nodes!, path: pathInDocument(document, node), extensions })
}
