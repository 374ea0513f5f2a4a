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
import { preliminaryRules, validationRules } from './validation-rules.ts'
import { ValidationTime } from './validation-time.ts'

/** Returns the CPU time used so far, in milliseconds. */
export type CpuTimer = () => number

/** Measures the CPU time of this process. Unlike wall-clock time, it excludes time in which other processes run. */
export const processCpuTimer: CpuTimer = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const MAX_ERRORS = 5
const NODES_BETWEEN_TIME_CHECKS = 32

/** Validates a document. Returns at most 5 errors, each with the path of its position. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  cpuTimer: CpuTimer,
  time = new ValidationTime(),
): readonly GraphQLError[] {
  const startMs = cpuTimer()
  const endMs = startMs + time.nextMs
  if (endMs <= startMs) return [validationTimeout()]
  const timeLimit: ValidationRule = (): ASTVisitor => {
    let nodes = 0
    return {
      enter() {
        nodes += 1
        if (nodes % NODES_BETWEEN_TIME_CHECKS === 0 && cpuTimer() > endMs) throw new ValidationTimeout()
      },
    }
  }
  try {
    const check = (rules: readonly ValidationRule[]) =>
      validate(schema, document, [timeLimit, ...rules], { maxErrors: MAX_ERRORS })
    const repeats = check(preliminaryRules)
    const errors = repeats.length > 0 ? repeats : check(validationRules)
    return errors.slice(0, MAX_ERRORS).map((error) => withPath(document, error))
  } catch (error) {
    if (error instanceof ValidationTimeout) return [validationTimeout()]
    throw error
  } finally {
    time.spend(cpuTimer() - startMs)
  }
}

const validationTimeout = () => new GraphQLError('Timeout on validation of query')

class ValidationTimeout extends Error {
  override readonly name = 'ValidationTimeout'
}

function withPath(document: DocumentNode, error: GraphQLError): GraphQLError {
  const { message, nodes, extensions } = error
  const node = nodes?.[0]
  if (node === undefined) return error
  return new GraphQLError(message, { nodes: nodes!, path: pathInDocument(document, node), extensions })
}
