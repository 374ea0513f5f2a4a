import {
  type ASTNode,
  type ASTVisitor,
  GraphQLError,
  getNamedType,
  Kind,
  print,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  visitInParallel,
} from 'graphql'
import { redirectErrors } from './redirect-errors.ts'

/** A member of an input object that contains the current node. */
interface Member {
  readonly objectType: string
  readonly name: string
}

/** The standard rule about literals, with the messages of GitLab: each names the faulty member of an input object and the reason. */
export const literalsOfCorrectType: ValidationRule = (context): ASTVisitor => {
  const members: Member[] = []
  const tracker: ASTVisitor = {
    ObjectField: {
      enter({ name }) {
        members.push({ objectType: getNamedType(context.getParentInputType())?.name ?? '', name: name.value })
      },
      leave() {
        members.pop()
      },
    },
  }
  const report = (error: GraphQLError) => context.reportError(literalError(error, context, members.at(-1)))
  return visitInParallel([tracker, ValuesOfCorrectTypeRule(redirectErrors(context, report))])
}

function literalError(error: GraphQLError, context: ValidationContext, member: Member | undefined): GraphQLError {
  const node = error.nodes![0]!
  const failed = (message: string, extensions: Readonly<Record<string, unknown>>) =>
    new GraphQLError(message, { nodes: node, extensions })
  // The library names a missing or an unknown member in its message only.
  const [, objectType, missing, type] = missingMember.exec(error.message) ?? []
  if (missing !== undefined) {
    return failed(`Argument '${missing}' on InputObject '${objectType}' is required. Expected type ${type}`, {
      code: 'missingRequiredInputObjectAttribute',
      argumentName: missing,
      argumentType: type,
      inputObjectType: objectType,
    })
  }
  if (node.kind === Kind.OBJECT_FIELD && member !== undefined) {
    return failed(`InputObject '${member.objectType}' doesn't accept argument '${member.name}'`, {
      code: 'argumentNotAccepted',
      name: member.objectType,
      typeName: 'InputObject',
      argumentName: member.name,
    })
  }
  const argument = context.getArgument()
  const owner = member === undefined ? fieldOwner(context) : { kind: 'InputObject', name: member.objectType }
  const argumentName = member?.name ?? argument?.name
  const expected = context.getInputType()
  if (owner === undefined || argumentName === undefined || expected == null) {
    return failed(error.message, { code: 'argumentLiteralsIncompatible' })
  }
  return failed(
    `Argument '${argumentName}' on ${owner.kind} '${owner.name}' has an invalid value (${printed(node)}). ` +
      `Expected type '${expected}'.${reasonIn(error)}`,
    { code: 'argumentLiteralsIncompatible', typeName: owner.kind, argumentName },
  )
}

const missingMember = /^Field "(\w+)\.(\w+)" of required type "([^"]*)" was not provided\.$/

function fieldOwner(context: ValidationContext): { readonly kind: string; readonly name: string } | undefined {
  const directive = context.getDirective()
  if (directive != null) return { kind: 'Directive', name: directive.name }
  const field = context.getFieldDef()
  return field == null ? undefined : { kind: 'Field', name: field.name }
}

const printed = (node: ASTNode): string => ('value' in node || node.kind.endsWith('Value') ? print(node) : '')

/** The messages of the library about types, which say no more than the expected type. */
const aboutTypes = / cannot represent |^Expected value of type /

/** Returns the reason that one of our scalars or enumerations has given. */
const reasonIn = ({ message }: GraphQLError): string => (aboutTypes.test(message) ? '' : ` ${message}.`)
