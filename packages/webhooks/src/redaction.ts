import type { HookSecrets } from '@penstock/core'
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
/** The length from which tokens and values of headers are masked: shorter ones, such as `1` and `true`, are no secrets. */
const MIN_SECRET = 6

/**
 * Returns a text that a receiver sent without the secrets of the hook, which it may repeat: the values of URL variables become
 * their keys, tokens and the values of custom headers `[REDACTED]`.
 */
export const maskSecrets = (text: string, secrets: HookSecrets): string => replaceEach(text, masksOf(secrets))

/** Returns the replacement of each secret. A value that is also that of a URL variable becomes the key. */
function masksOf({ urlVariables, customHeaders, token, signingToken }: HookSecrets): ReadonlyMap<string, string> {
  const masks = new Map<string, string>()
  for (const value of [token, signingToken, ...Object.values(customHeaders)]) {
    if (value !== undefined && value.length >= MIN_SECRET) masks.set(value, REDACTED)
  }
  for (const [key, value] of Object.entries(urlVariables)) masks.set(value, `{${key}}`)
  return masks
}

/**
 * Replaces the keys of the map by their values. Of the keys that begin at the same place, the longest is replaced. Inserted values
 * are not searched again, because the text would grow by a multiple with each of them.
 */
function replaceEach(text: string, replacements: ReadonlyMap<string, string>): string {
  if (replacements.size === 0) return text
  const longestFirst = [...replacements.keys()].toSorted((one, other) => other.length - one.length)
  const values = new RegExp(longestFirst.map(escaped).join('|'), 'g')
  return text.replaceAll(values, (value) => replacements.get(value)!).slice(0, Math.max(text.length, MAX_MASKED))
}

const escaped = (value: string): string => value.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
