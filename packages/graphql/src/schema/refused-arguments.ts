import { DomainError } from '@penstock/core'
import {
  defaultFieldResolver,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql'

// Clients send arguments for features that do not exist here in every request, with the value null unless a person uses
// the feature. With any other value the field fails, because ignoring the value would return wrong data.

/** Returns the error for the argument or member of this name. */
type Refusal = (name: string) => Error

/** Returns the options of an argument for a feature that does not exist. */
export function refusedArgument(because: string) {
  const refusal: Refusal = (name) => new GraphQLError(`Argument '${name}' is not supported, because ${because}`)
  return { description: `Not supported, because ${because}; only null is accepted`, extensions: { refusal } }
}

const refusal: Refusal = (name) => new DomainError({ code: 'refused', message: `${name} is not supported` })
/** The options of a member of an input object for a feature that does not exist. */
export const refusedMember = { description: 'Not supported: a value is refused', extensions: { refusal } }

/** Adds the check to every field that has a refused argument or member. Mutations check their inputs themselves. */
export function refuseArguments(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type === schema.getMutationType()) continue
    for (const field of Object.values(type.getFields())) refuseIn(field)
  }
}

function refuseIn(field: GraphQLField<unknown, unknown>): void {
  if (!field.args.some((each) => hasRefusal(each))) return
  const resolve = field.resolve ?? defaultFieldResolver
  field.resolve = (parent, args, context, info) => {
    requireSupported(field.args, args)
    return resolve(parent, args, context, info)
  }
}

/**
 * Requires that no refused argument or member, at any depth, has a value.
 *
 * @throws GraphQLError for an argument, DomainError `refused` for a member of an input object
 */
export function requireSupported(inputs: readonly Input[], values: Readonly<Record<string, unknown>>): void {
  for (const { name, extensions } of inputs) {
    if (extensions.refusal !== undefined && values[name] != null) throw (extensions.refusal as Refusal)(name)
  }
  for (const input of inputs) {
    const members = membersOf(input)
    if (members.length === 0) continue
    for (const value of [values[input.name]].flat()) {
      if (value != null) requireSupported(members, value as Readonly<Record<string, unknown>>)
    }
  }
}

type Input = GraphQLArgument | GraphQLInputField

/** Returns the members of an input object; none for other types. */
function membersOf(input: Input): readonly GraphQLInputField[] {
  const type = getNamedType(input.type)
  return isInputObjectType(type) ? Object.values(type.getFields()) : []
}

/** @param seen the types that have been examined, because a type may contain itself */
function hasRefusal(input: Input, seen = new Set<unknown>()): boolean {
  if (input.extensions.refusal !== undefined) return true
  const type = getNamedType(input.type)
  if (seen.has(type)) return false
  seen.add(type)
  return membersOf(input).some((member) => hasRefusal(member, seen))
}
