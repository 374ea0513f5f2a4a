import { REDACTED } from './payloads/shared-objects.ts'

/** A clone address such as `git@host:group/project.git` has a colon and slashes where an e-mail address has its domain. */
const email = /^[^\s@]+@[^\s@:/]+\.[^\s@:/]+$/

/** Returns JSON for the event log: every text that is an e-mail address is hidden. */
export const redactedJson = (json: string): string =>
  JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'string' && email.test(value) ? REDACTED : value,
  )

/** A masked text is cut to the length that it had, or to this one if it was shorter. */
const MAX_MASKED = 1_024

/**
 * Returns a text with the keys of variables in place of their values. Of values that begin at the same place, the longest is
 * replaced. What is inserted is not searched again, because the text would grow by a multiple with each variable.
 */
export function maskVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const longestFirst = Object.entries(variables).toSorted(([, one], [, other]) => other.length - one.length)
  if (longestFirst.length === 0) return text
  const keyOf = new Map(longestFirst.map(([key, value]) => [value, key]))
  const values = new RegExp([...keyOf.keys()].map(escaped).join('|'), 'g')
  return text.replaceAll(values, (value) => `{${keyOf.get(value)}}`).slice(0, Math.max(text.length, MAX_MASKED))
}

const escaped = (value: string): string => value.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
