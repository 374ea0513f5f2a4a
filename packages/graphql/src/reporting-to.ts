import type { GraphQLError, ValidationContext } from 'graphql'

/** The context, but for where errors go. */
export function reportingTo(context: ValidationContext, report: (error: GraphQLError) => void): ValidationContext {
  return Object.create(context, { reportError: { value: report } }) as ValidationContext
}
