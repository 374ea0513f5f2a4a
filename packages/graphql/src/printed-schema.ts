import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql'

/** The same text for the same schema, in whatever order its areas are made. */
export const printedSchema = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`
