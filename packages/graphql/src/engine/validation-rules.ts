import {
  FieldsOnCorrectTypeRule,
  type GraphQLArgument,
  GraphQLError,
  getNamedType,
  isRequiredArgument,
  Kind,
  KnownArgumentNamesRule,
  ProvidedRequiredArgumentsRule,
  ScalarLeafsRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
} from 'graphql'
import { literalsOfCorrectType } from './literals-of-correct-type.ts'
import { redirectErrors } from './redirect-errors.ts'
import { limitRepeatedSelections } from './repeated-selections.ts'
import { variablesInAllowedPosition } from './variables-in-allowed-position.ts'

type Reword = (error: GraphQLError, context: ValidationContext) => GraphQLError

/** Returns a standard rule with the error messages of GitLab. */
const reworded =
  (rule: ValidationRule, reword: Reword): ValidationRule =>
  (context) =>
    rule(redirectErrors(context, (error) => context.reportError(reword(error, context))))

const nodesOf = ({ nodes }: GraphQLError) => ({ nodes: nodes ?? null })

const undefinedField: Reword = (error, context) => {
  const node = error.nodes![0]!
  const fieldName = node.kind === Kind.FIELD ? node.name.value : ''
  const type = context.getParentType()!
  // The library suggests similar names, but only in its message.
  const [, suggestions = ''] = / Did you mean ("[^?]*)\?$/.exec(error.message) ?? []
  const similarNames = [...suggestions.matchAll(/"(\w+)"/g)].map(([, name]) => name!)
  return new GraphQLError(`Field '${fieldName}' doesn't exist on type '${type.name}'${suggestionText(similarNames)}`, {
    ...nodesOf(error),
    extensions: { code: 'undefinedField', typeName: type.name, fieldName },
  })
}

const argumentNotAccepted: Reword = (error, context) => {
  const node = error.nodes![0]!
  const argumentName = node.kind === Kind.ARGUMENT ? node.name.value : ''
  const name = (context.getDirective() ?? context.getFieldDef())?.name ?? ''
  const kind = context.getDirective() ? 'Directive' : 'Field'
  return new GraphQLError(`${kind} '${name}' doesn't accept argument '${argumentName}'`, {
    ...nodesOf(error),
    extensions: { code: 'argumentNotAccepted', name, typeName: kind, argumentName },
  })
}

const missingRequiredArguments: Reword = (error, context) => {
  const node = error.nodes![0]!
  const presentNames =
    'arguments' in node ? (node.arguments ?? []).map((each) => (each as { name: { value: string } }).name.value) : []
  const target = context.getDirective() ?? context.getFieldDef()
  const missing = (target?.args ?? [])
    .filter((each: GraphQLArgument) => isRequiredArgument(each) && !presentNames.includes(each.name))
    .map((each: GraphQLArgument) => each.name)
  const className = context.getDirective() ? 'Directive' : 'Field'
  return new GraphQLError(`${className} '${target?.name}' is missing required arguments: ${missing.join(', ')}`, {
    ...nodesOf(error),
    extensions: {
      code: 'missingRequiredArguments',
      className,
      name: target?.name,
      arguments: missing.join(', '),
    },
  })
}

const selectionMismatch: Reword = (error, context) => {
  const node = error.nodes![0]!
  const name = node.kind === Kind.FIELD ? node.name.value : context.getFieldDef()!.name
  const type = getNamedType(context.getType()!)
  const message =
    node.kind === Kind.FIELD
      ? `Field must have selections (field '${name}' returns ${type.name} but has no selections. Did you mean '${name} { ... }'?)`
      : `Selections can't be made on scalars (field '${name}' returns ${type.name} but has selections)`
  return new GraphQLError(message, {
    ...nodesOf(error),
    extensions: { code: 'selectionMismatch', nodeName: `field '${name}'`, typeName: type.name },
  })
}

const suggestionText = (names: readonly string[]): string => {
  const quoted = names.map((name) => `\`${name}\``)
  if (quoted.length === 0) return ''
  const all = quoted.length === 1 ? quoted[0] : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  return ` (Did you mean ${all}?)`
}

const platformRules = new Map<ValidationRule, ValidationRule>([
  [FieldsOnCorrectTypeRule, reworded(FieldsOnCorrectTypeRule, undefinedField)],
  [KnownArgumentNamesRule, reworded(KnownArgumentNamesRule, argumentNotAccepted)],
  [ProvidedRequiredArgumentsRule, reworded(ProvidedRequiredArgumentsRule, missingRequiredArguments)],
  [ValuesOfCorrectTypeRule, literalsOfCorrectType],
  [ScalarLeafsRule, reworded(ScalarLeafsRule, selectionMismatch)],
  [VariablesInAllowedPositionRule, variablesInAllowedPosition],
])

/** The rules that run first, because the standard rules would take seconds on documents that violate them. */
export const preliminaryRules: readonly ValidationRule[] = [limitRepeatedSelections]

/** The standard rules. Those with an error code that clients read have the messages of GitLab. */
export const validationRules: readonly ValidationRule[] = specifiedRules.map((rule) => platformRules.get(rule) ?? rule)
