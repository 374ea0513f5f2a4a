/**
 * The id of a pipeline or a job: an integer from 1 to 2^63-1, or a text for forges that have other ids (a UUID, or the name
 * of a job and a number). A number and a text are different ids, even if they are printed alike.
 */
export type RunId = bigint | string

/** Orders ids: numbers by value, then texts by their characters. */
export function compareRunIds(one: RunId, other: RunId): number {
  if (one === other) return 0
  if (typeof one !== typeof other) return typeof one === 'bigint' ? -1 : 1
  return one < other ? -1 : 1
}

const TEXT_MARK = '~'

/** Returns an id for keys, lists and hashes: digits, or a mark and a text without blanks and line breaks. */
export const runIdText = (id: RunId): string =>
  typeof id === 'bigint' ? String(id) : `${TEXT_MARK}${encodeURIComponent(id.toWellFormed())}`

/** Returns the id that `runIdText` has written. */
export const parseRunId = (text: string): RunId =>
  text.startsWith(TEXT_MARK) ? decodeURIComponent(text.slice(TEXT_MARK.length)) : BigInt(text)

/** Returns an id as an integer; `undefined` for a text. */
export const integerId = (id: RunId | undefined): bigint | undefined => (typeof id === 'bigint' ? id : undefined)
