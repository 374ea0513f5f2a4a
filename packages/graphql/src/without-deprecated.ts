import { MapperKind, mapSchema } from '@graphql-tools/utils'
import { type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType } from 'graphql'

/**
 * The schema as it will be: without fields, arguments and values that are deprecated.
 *
 * @see spec/graphql-contract.md 1.1, 3.6
 */
export function withoutDeprecated(schema: GraphQLSchema): GraphQLSchema {
  const kept = <Config extends { readonly deprecationReason?: string | null | undefined }>(config: Config) =>
    config.deprecationReason == null ? undefined : null
  const remaining = mapSchema(schema, {
    [MapperKind.COMPOSITE_FIELD]: kept,
    [MapperKind.INPUT_OBJECT_FIELD]: kept,
    [MapperKind.ENUM_VALUE]: kept,
    [MapperKind.ARGUMENT]: kept,
  })
  restoreDefaults(schema, remaining)
  return remaining
}

/**
 * The library keeps a default as the name of its value, and loses it together with a deprecated name. The value itself has
 * another name, which stays: so the default is taken from the schema as it was.
 */
function restoreDefaults(schema: GraphQLSchema, remaining: GraphQLSchema): void {
  for (const type of Object.values(remaining.getTypeMap())) {
    const before = schema.getType(type.name)
    if (isInputObjectType(type) && isInputObjectType(before)) {
      for (const field of Object.values(type.getFields())) {
        field.defaultValue = before.getFields()[field.name]!.defaultValue
      }
    } else if ((isObjectType(type) || isInterfaceType(type)) && (isObjectType(before) || isInterfaceType(before))) {
      for (const field of Object.values(type.getFields())) {
        const old = before.getFields()[field.name]!.args
        for (const arg of field.args) arg.defaultValue = old.find(({ name }) => name === arg.name)!.defaultValue
      }
    }
  }
}
