import {
  type ASTVisitor,
  type GraphQLError,
  GraphQLID,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  isListType,
  isNonNullType,
  Kind,
  type TypeNode,
  type ValidationContext,
  type ValidationRule,
  VariablesInAllowedPositionRule,
} from 'graphql'
import { reportingTo } from './reporting-to.ts'

/**
 * A variable declared `ID` is taken where `String` is expected, and the other way round: the platform strays from our types
 * there, and documents written for it are to run.
 *
 * @see spec/graphql-contract.md 3.3
 */
export const variablesInAllowedPosition: ValidationRule = (context) => {
  const refused: GraphQLError[] = []
  const stillRefused = new Set<unknown>()
  const strict = VariablesInAllowedPositionRule(reportingTo(context, (error) => refused.push(error))) as Visitors
  const loose = VariablesInAllowedPositionRule(
    Object.create(context, {
      reportError: { value: (error: GraphQLError) => stillRefused.add(error.nodes?.[1]) },
      getRecursiveVariableUsages: {
        value: (...of: Parameters<ValidationContext['getRecursiveVariableUsages']>) =>
          context
            .getRecursiveVariableUsages(...of)
            .map((usage) => ({ ...usage, type: usage.type && withoutString(usage.type) })),
      },
    }) as ValidationContext,
  ) as Visitors
  return {
    OperationDefinition: {
      enter() {
        strict.OperationDefinition.enter()
        loose.OperationDefinition.enter()
      },
      leave(operation: unknown) {
        strict.OperationDefinition.leave(operation)
        loose.OperationDefinition.leave(operation)
        for (const error of refused.splice(0)) if (stillRefused.has(error.nodes?.[1])) context.reportError(error)
      },
    },
    VariableDefinition(node) {
      strict.VariableDefinition(node)
      loose.VariableDefinition({ ...node, type: withoutStringNode(node.type) })
    },
  } as ASTVisitor
}

interface Visitors {
  readonly OperationDefinition: { enter(): void; leave(operation: unknown): void }
  VariableDefinition(node: unknown): void
}

function withoutString(type: GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(withoutString(type.ofType) as typeof GraphQLID)
  if (isListType(type)) return new GraphQLList(withoutString(type.ofType))
  return type === GraphQLString ? GraphQLID : type
}

function withoutStringNode(node: TypeNode): TypeNode {
  if (node.kind === Kind.NAMED_TYPE) {
    return node.name.value === 'String' ? { ...node, name: { ...node.name, value: 'ID' } } : node
  }
  return { ...node, type: withoutStringNode(node.type) } as TypeNode
}
