import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql'

/** Prints a schema in sorted order, so that the text does not depend on the order in which areas are added. */
export const printedSchema = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`
