import { MapperKind, mapSchema } from '@graphql-tools/utils'
import { type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType } from 'graphql'

/** Returns the schema without its deprecated fields, arguments, input fields and enum values. */
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
 * Restores default values from the original schema. The library stores a default under the name of its enum value and drops
 * it with a deprecated name, although the same value has a second name that is not deprecated.
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
