import type { GraphQLError, ValidationContext } from 'graphql'

/** Returns a context that passes the errors of a rule to `report` instead of collecting them. */
export function redirectErrors(context: ValidationContext, report: (error: GraphQLError) => void): ValidationContext {
  return Object.create(context, { reportError: { value: report } }) as ValidationContext
}
