import { REDACTED } from './payloads/shared-objects.ts'

/** A clone address such as `git@host:group/project.git` has a colon and slashes where an e-mail address has its domain. */
const email = /^[^\s@]+@[^\s@:/]+\.[^\s@:/]+$/

/** Returns JSON for the event log: every text that is an e-mail address is hidden. */
export const redactedJson = (json: string): string =>
  JSON.stringify(
    JSON.parse(json, (_, value: unknown) => (typeof value === 'string' && email.test(value) ? REDACTED : value)),
  )

/** Returns a text with the keys of variables in place of their values. Longer values are replaced first. */
export function maskVariables(text: string, variables: Readonly<Record<string, string>>): string {
  const longestFirst = Object.entries(variables).toSorted(([, one], [, other]) => other.length - one.length)
  return longestFirst.reduce((masked, [key, value]) => masked.replaceAll(value, `{${key}}`), text)
}
