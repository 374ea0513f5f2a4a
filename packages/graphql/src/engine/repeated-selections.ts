import { GraphQLError, Kind, type ValidationRule } from 'graphql'

const MAX_REPEATS = 50

/**
 * Rejects a selection set that repeats one field or fragment too often. The rule on overlapping fields compares every pair of
 * them, which would take seconds.
 */
export const limitRepeatedSelections: ValidationRule = (context) => ({
  SelectionSet({ selections }) {
    const counts = new Map<string, number>()
    for (const selection of selections) {
      const key =
        selection.kind === Kind.FIELD
          ? (selection.alias ?? selection.name).value
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? `... ${selection.name.value}`
            : '...'
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      if (count === MAX_REPEATS + 1) {
        context.reportError(new GraphQLError(`'${key}' is selected too often in one place`, { nodes: selection }))
      }
    }
  },
})
