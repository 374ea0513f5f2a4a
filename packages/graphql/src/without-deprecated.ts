import { MapperKind, mapSchema } from '@graphql-tools/utils'
import type { GraphQLSchema } from 'graphql'

/**
 * The schema as it will be: without fields, arguments and values that are deprecated.
 *
 * @see spec/graphql-contract.md 1.1, 3.6
 */
export function withoutDeprecated(schema: GraphQLSchema): GraphQLSchema {
  const kept = <Config extends { readonly deprecationReason?: string | null | undefined }>(config: Config) =>
    config.deprecationReason == null ? undefined : null
  return mapSchema(schema, {
    [MapperKind.COMPOSITE_FIELD]: kept,
    [MapperKind.INPUT_OBJECT_FIELD]: kept,
    [MapperKind.ENUM_VALUE]: kept,
    [MapperKind.ARGUMENT]: kept,
  })
}
