import { defaultFieldResolver, GraphQLError, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql'

/**
 * Returns the options of an argument for a feature that does not exist yet. Clients send such arguments in every
 * request, with the value null unless a person uses the feature. With any other value the field fails, because ignoring
 * the value would return wrong data.
 */
export const refusedArgument = (because: string) => ({
  description: `Not supported, because ${because}; only null is accepted`,
  extensions: { refusedBecause: because },
})

/** Adds the check to every field that has a refused argument. */
export function refuseArguments(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) refuseIn(field)
  }
}

function refuseIn(field: GraphQLField<unknown, unknown>): void {
  const refused = field.args.flatMap(({ name, extensions }) =>
    typeof extensions.refusedBecause === 'string' ? [{ name, because: extensions.refusedBecause }] : [],
  )
  if (refused.length === 0) return
  const resolve = field.resolve ?? defaultFieldResolver
  field.resolve = (parent, args, context, info) => {
    const present = refused.find(({ name }) => args[name] != null)
    if (present !== undefined) {
      throw new GraphQLError(`Argument '${present.name}' is not supported, because ${present.because}`)
    }
    return resolve(parent, args, context, info)
  }
}
