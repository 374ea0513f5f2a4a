import {
  type ASTVisitor,
  FieldsOnCorrectTypeRule,
  type GraphQLArgument,
  GraphQLError,
  GraphQLID,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  getNamedType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  Kind,
  KnownArgumentNamesRule,
  ProvidedRequiredArgumentsRule,
  print,
  ScalarLeafsRule,
  specifiedRules,
  type TypeNode,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
} from 'graphql'

type Reword = (error: GraphQLError, context: ValidationContext) => GraphQLError

/** A rule of the language, in the platform's words. */
const reworded =
  (rule: ValidationRule, reword: Reword): ValidationRule =>
  (context) =>
    rule(reportingTo(context, (error) => context.reportError(reword(error, context))))

/** The context, but for where errors go. */
function reportingTo(context: ValidationContext, report: (error: GraphQLError) => void): ValidationContext {
  return Object.create(context, { reportError: { value: report } }) as ValidationContext
}

const nodesOf = ({ nodes }: GraphQLError) => ({ nodes: nodes ?? null })

const undefinedField: Reword = (error, context) => {
  const node = error.nodes![0]!
  const fieldName = node.kind === Kind.FIELD ? node.name.value : ''
  const type = context.getParentType()!
  // The library has found the names already; it tells them in its sentence only.
  const [, meant = ''] = / Did you mean ("[^?]*)\?$/.exec(error.message) ?? []
  const near = [...meant.matchAll(/"(\w+)"/g)].map(([, name]) => name!)
  return new GraphQLError(`Field '${fieldName}' doesn't exist on type '${type.name}'${hintOf(near)}`, {
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
  const given =
    'arguments' in node ? (node.arguments ?? []).map((each) => (each as { name: { value: string } }).name.value) : []
  const what = context.getDirective() ?? context.getFieldDef()
  const missing = (what?.args ?? [])
    .filter((each: GraphQLArgument) => isRequiredArgument(each) && !given.includes(each.name))
    .map((each: GraphQLArgument) => each.name)
  const className = context.getDirective() ? 'Directive' : 'Field'
  return new GraphQLError(`${className} '${what?.name}' is missing required arguments: ${missing.join(', ')}`, {
    ...nodesOf(error),
    extensions: {
      code: 'missingRequiredArguments',
      className,
      name: what?.name,
      arguments: missing.join(', '),
    },
  })
}

const argumentLiteralsIncompatible: Reword = (error, context) => {
  const node = error.nodes![0]!
  const argument = context.getArgument()
  const field = context.getFieldDef()
  const expected = context.getInputType()
  if (argument == null || expected == null || field == null) {
    return new GraphQLError(error.message, { ...nodesOf(error), extensions: { code: 'argumentLiteralsIncompatible' } })
  }
  const value = 'value' in node || node.kind.endsWith('Value') ? print(node) : ''
  return new GraphQLError(
    `Argument '${argument.name}' on Field '${field.name}' has an invalid value (${value}). Expected type '${expected}'.`,
    {
      ...nodesOf(error),
      extensions: { code: 'argumentLiteralsIncompatible', typeName: 'Field', argumentName: argument.name },
    },
  )
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

/**
 * A variable declared `ID` is taken where `String` is expected, and the other way round: the platform strays from our types
 * there, and documents written for it are to run.
 *
 * @see spec/graphql-contract.md 3.3
 */
const variablesInAllowedPosition: ValidationRule = (context) => {
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

const hintOf = (names: readonly string[]): string => {
  const quoted = names.map((name) => `\`${name}\``)
  if (quoted.length === 0) return ''
  const all = quoted.length === 1 ? quoted[0] : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  return ` (Did you mean ${all}?)`
}

/** Comparing each with each, the rule for fields of the same name would take seconds over what says one thing so often. */
const MOST_REPEATS = 50

const fewRepeats: ValidationRule = (context) => ({
  SelectionSet({ selections }) {
    const counts = new Map<string, number>()
    for (const selection of selections) {
      const key =
        selection.kind === Kind.FIELD
          ? (selection.alias ?? selection.name).value
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? `... ${selection.name.value}`
            : '...'
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      if (count === MOST_REPEATS + 1) {
        context.reportError(new GraphQLError(`'${key}' is selected too often in one place`, { nodes: selection }))
      }
    }
  },
})

const inOwnWords = new Map<ValidationRule, ValidationRule>([
  [FieldsOnCorrectTypeRule, reworded(FieldsOnCorrectTypeRule, undefinedField)],
  [KnownArgumentNamesRule, reworded(KnownArgumentNamesRule, argumentNotAccepted)],
  [ProvidedRequiredArgumentsRule, reworded(ProvidedRequiredArgumentsRule, missingRequiredArguments)],
  [ValuesOfCorrectTypeRule, reworded(ValuesOfCorrectTypeRule, argumentLiteralsIncompatible)],
  [ScalarLeafsRule, reworded(ScalarLeafsRule, selectionMismatch)],
  [VariablesInAllowedPositionRule, variablesInAllowedPosition],
])

/** Of what repeats itself, asked before the rule that would suffer from it. */
export const rulesBefore: readonly ValidationRule[] = [fewRepeats]

/**
 * The rules of the language; those whose answers clients read by their codes in the platform's words.
 *
 * @see spec/graphql-contract.md 4.1
 */
export const validationRules: readonly ValidationRule[] = specifiedRules.map((rule) => inOwnWords.get(rule) ?? rule)
