import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'
import type { Dice } from './random.ts'

/** The content of a request. */
export interface FuzzRequest {
  query: string
  variables: unknown
  operationName?: string
}

/** The values that exist in the world, for use in arguments. */
export interface KnownValues {
  readonly paths: readonly string[]
  readonly usernames: readonly string[]
  readonly texts: readonly string[]
  /** The ids of commits. */
  readonly shas: readonly string[]
  /** The ids by model. */
  readonly ids: Readonly<Record<string, readonly (number | string)[]>>
}

/** Returns the model of an id scalar: `Ci::Pipeline` for `CiPipelineID`. */
const modelOf = (scalar: string): string =>
  ({ JobID: 'Ci::Build', CiProcessableID: 'Ci::Build', NamespaceID: 'Group' })[scalar] ??
  scalar.replace(/ID$/, '').replace(/^Ci(?=[A-Z])/, 'Ci::')

/** The alias of the complexity score, which every query selects. */
export const SCORE = 'fuzzScore'

/** Generates random valid documents of a schema, with arguments, aliases, variables, fragments and directives. */
export class DocumentGenerator {
  readonly #schema: GraphQLSchema
  readonly #dice: Dice
  readonly #known: KnownValues
  #declared: string[] = []
  #variables: Record<string, unknown> = {}
  #fragments: string[] = []
  #names = 0

  constructor(schema: GraphQLSchema, dice: Dice, known: KnownValues) {
    this.#schema = schema
    this.#dice = dice
    this.#known = known
  }

  query(depth = 2 + this.#dice.upTo(5)): FuzzRequest {
    return this.#operation('query', this.#schema.getQueryType()!, depth)
  }

  mutation(): FuzzRequest {
    return this.#operation('mutation', this.#schema.getMutationType()!, 3)
  }

  /** Returns a query with one branch of the given depth, if the schema permits. */
  deep(levels: number): FuzzRequest {
    let type: GraphQLCompositeType = this.#schema.getQueryType()!
    let text = ''
    let depth = 0
    this.#begin()
    for (; depth < levels; depth += 1) {
      const fields: GraphQLField<unknown, unknown>[] = fieldsOf(type).filter((each) =>
        isCompositeType(getNamedType(each.type)),
      )
      if (fields.length === 0) break
      const field = this.#dice.pick(fields)
      text += `{ ${field.name}${this.#arguments(field.args)} `
      type = getNamedType(field.type) as GraphQLCompositeType
    }
    return this.#finish('query', `${text}{ __typename }${' }'.repeat(depth)}`)
  }

  /** Returns a query that selects one field repeatedly, under different aliases. */
  wide(times: number): FuzzRequest {
    const fields = fieldsOf(this.#schema.getQueryType()!).filter((each) => isCompositeType(getNamedType(each.type)))
    const field = this.#dice.pick(fields)
    this.#begin()
    const one = `${field.name}${this.#arguments(field.args)} { __typename }`
    return this.#finish('query', `{ ${Array.from({ length: times }, (_, index) => `w${index}: ${one}`).join(' ')} }`)
  }

  #begin(): void {
    this.#declared = []
    this.#variables = {}
    this.#fragments = []
    this.#names = 0
  }

  #operation(kind: 'query' | 'mutation', root: GraphQLObjectType, depth: number): FuzzRequest {
    this.#begin()
    const selections = this.#selections(root, depth, kind === 'mutation' ? 1 : 3)
    const score = kind === 'query' ? ` ${SCORE}: queryComplexity { score limit }` : ''
    return this.#finish(kind, `{ ${selections}${score} }`)
  }

  #finish(kind: 'query' | 'mutation', selectionSet: string): FuzzRequest {
    const declared = this.#declared.length > 0 ? `(${this.#declared.join(', ')})` : ''
    const query = [`${kind} Fuzz${declared} ${selectionSet}`, ...this.#fragments].join('\n')
    return { query, variables: this.#variables }
  }

  #selections(type: GraphQLCompositeType, depth: number, max = 4): string {
    const all = fieldsOf(type)
    const fields = depth > 0 ? all : all.filter((each) => isLeafType(getNamedType(each.type)))
    const parts: string[] = []
    for (let count = 1 + this.#dice.upTo(max - 1); count > 0 && fields.length > 0; count -= 1) {
      parts.push(this.#field(this.#dice.pick(fields), depth))
    }
    if (isAbstractType(type) && this.#dice.is(0.6)) {
      const possible = this.#dice.pick(this.#schema.getPossibleTypes(type))
      parts.push(`... on ${possible.name} { ${this.#selections(possible, Math.max(0, depth - 1), 2)} }`)
    }
    if (this.#dice.is(0.04))
      parts.push(`...${this.#directive()} { ${this.#selections(type, Math.max(0, depth - 1), 2)} }`)
    if (this.#dice.is(0.04)) parts.push(this.#spread(type, depth))
    return parts.length > 0 ? parts.join(' ') : '__typename'
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const args = this.#arguments(field.args)
    const type = getNamedType(field.type)
    const inner = isCompositeType(type) ? ` { ${this.#selections(type, depth - 1)} }` : ''
    // An alias, because one response key must not have different arguments or selections.
    const alias = args !== '' || inner !== '' || this.#dice.is(0.1) ? `${this.#name('f')}: ` : ''
    return `${alias}${field.name}${args}${this.#directive()}${inner}`
  }

  #spread(type: GraphQLCompositeType, depth: number): string {
    const name = this.#name('Part')
    const selections = this.#selections(type, Math.max(0, depth - 1), 2)
    this.#fragments.push(`fragment ${name} on ${type.name} { ${selections} }`)
    return this.#dice.is(0.3) ? `...${name} ...${name}` : `...${name}`
  }

  #directive(): string {
    if (!this.#dice.is(0.05)) return ''
    const name = this.#dice.pick(['include', 'skip'])
    if (this.#dice.is(0.5)) return ` @${name}(if: ${this.#dice.is(0.5)})`
    return ` @${name}(if: $${this.#declare('Boolean!', this.#dice.is(0.5))})`
  }

  #arguments(args: readonly GraphQLArgument[]): string {
    const page = this.#dice.pick(['first', 'last'])
    const given = args.filter((each) => {
      if (isRequiredArgument(each)) return true
      if (each.name === 'first' || each.name === 'last') return each.name === page && this.#dice.is(0.7)
      return this.#dice.is(each.name === 'after' || each.name === 'before' ? 0.05 : 0.2)
    })
    return given.length === 0 ? '' : `(${given.map((each) => `${each.name}: ${this.#argumentValue(each)}`).join(', ')})`
  }

  #argumentValue({ name, type }: GraphQLArgument): string {
    const value = this.#valueOf(type, name)
    return this.#dice.is(0.3) ? `$${this.#declare(String(type), value)}` : literalOf(value, type)
  }

  #declare(type: string, value: unknown): string {
    const name = this.#name('v')
    this.#declared.push(`$${name}: ${type}`)
    this.#variables[name] = value
    return name
  }

  #name(stem: string): string {
    this.#names += 1
    return `${stem}${this.#names}`
  }

  /** Returns a random value of a type, as JSON. */
  #valueOf(type: GraphQLInputType, name: string): unknown {
    if (isNonNullType(type)) return this.#valueOf(type.ofType, name)
    if (isListType(type)) return Array.from({ length: this.#dice.upTo(2) }, () => this.#valueOf(type.ofType, name))
    if (isEnumType(type)) return this.#dice.pick(type.getValues()).name
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter((each) => isRequiredInputField(each) || this.#dice.is(0.4))
      return Object.fromEntries(
        fields.map((each: GraphQLInputField) => [each.name, this.#valueOf(each.type, each.name)]),
      )
    }
    return this.#scalar(type.name, name)
  }

  #scalar(type: string, name: string): unknown {
    const dice = this.#dice
    const { paths, usernames, texts, shas } = this.#known
    switch (type) {
      case 'Int':
        return dice.pick(name === 'first' || name === 'last' ? [1, 2, 5, 20, 100, 500, 0, -1] : [1, 2, 3, 0, -7])
      case 'Float':
      case 'Duration':
        return dice.pick([0, 1.5, -2])
      case 'Boolean':
        return dice.is(0.5)
      case 'Time':
        return dice.pick(['2026-02-03T04:05:06Z', '2026-02-03', 'yesterday'])
      case 'Date':
      case 'ISO8601Date':
        return dice.pick(['2026-02-03', '2026-02-30'])
      case 'BigInt':
        return dice.pick(['1', '9007199254740993'])
      case 'ID':
      case 'String': {
        if (/path/i.test(name)) return dice.pick([...paths, 'no/such'])
        if (/username/i.test(name)) return dice.pick([...usernames, 'unknown'])
        if (/iid/i.test(name)) return String(1 + dice.upTo(4))
        if (/sha|ref|tree/i.test(name)) return dice.pick([...shas, 'main', 'HEAD', 'no-such'])
        if (/ids?$/i.test(name)) return this.#globalId(dice.pick(Object.keys(this.#known.ids)))
        if (/after|before/.test(name)) return dice.pick(['', 'eyJpZCI6IjEifQ', 'MQ', '%%%'])
        return dice.pick(texts)
      }
      default:
        return type.endsWith('ID') ? this.#globalId(modelOf(type)) : dice.pick(texts)
    }
  }

  #globalId(model: string): string {
    if (this.#dice.is(0.03))
      return this.#dice.pick(['gid://svc/Nothing/1', 'gid://other/User/1', '1', 'gid://svc/User/x'])
    return `gid://svc/${model}/${this.#dice.pick(this.#known.ids[model] ?? [1, 2])}`
  }
}

const fieldsOf = (type: GraphQLCompositeType): GraphQLField<unknown, unknown>[] =>
  'getFields' in type ? Object.values(type.getFields()) : []

/** Prints a JSON value as a literal of the type, with enum values and member names unquoted. */
function literalOf(value: unknown, type: GraphQLInputType): string {
  if (isNonNullType(type)) return literalOf(value, type.ofType)
  if (value === null) return 'null'
  if (isListType(type)) {
    return Array.isArray(value) ? `[${value.map((each) => literalOf(each, type.ofType)).join(', ')}]` : 'null'
  }
  if (isEnumType(type)) return String(value)
  if (isInputObjectType(type)) {
    const fields = type.getFields()
    const members = Object.entries(value as object).map(
      ([name, each]) => `${name}: ${literalOf(each, fields[name]!.type)}`,
    )
    return `{${members.join(', ')}}`
  }
  return JSON.stringify(value)
}
