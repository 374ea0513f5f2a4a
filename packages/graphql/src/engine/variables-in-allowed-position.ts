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
import { redirectErrors } from './redirect-errors.ts'

/**
 * Checks the types of variables, but accepts an `ID` variable where `String` is expected and vice versa. GitLab declares
 * `String` for some arguments that are `ID` here and vice versa, and documents written for it must run.
 */
export const variablesInAllowedPosition: ValidationRule = (context) => {
  const strictErrors: GraphQLError[] = []
  const looseErrorNodes = new Set<unknown>()
  const strict = VariablesInAllowedPositionRule(
    redirectErrors(context, (error) => strictErrors.push(error)),
  ) as Visitors
  const loose = VariablesInAllowedPositionRule(
    Object.create(context, {
      reportError: { value: (error: GraphQLError) => looseErrorNodes.add(error.nodes?.[1]) },
      getRecursiveVariableUsages: {
        value: (...args: Parameters<ValidationContext['getRecursiveVariableUsages']>) =>
          context
            .getRecursiveVariableUsages(...args)
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
        for (const error of strictErrors.splice(0))
          if (looseErrorNodes.has(error.nodes?.[1])) context.reportError(error)
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
