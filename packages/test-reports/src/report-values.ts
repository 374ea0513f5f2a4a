import { cleanText, MAX_NAME_BYTES, newTally } from '@penstock/converter'
import { parseDate } from '@penstock/forges'

/** Times before this one are defaults of reporters that do not know the time. */
const EARLIEST_NS = 946_684_800_000_000_000n
const MAX_SECONDS = 31_536_000

/** Returns the text, cut to `maxBytes`; `undefined` if it is blank. */
export function boundedText(text: string | undefined, maxBytes: number): string | undefined {
  if (text === undefined || text.trim() === '') return undefined
  return cleanText(text, maxBytes, newTally())
}

/** Returns a name on one line; `undefined` if it is blank. */
export const nameFrom = (text: string | undefined): string | undefined =>
  boundedText(text?.trim().replaceAll(/\s+/g, ' '), MAX_NAME_BYTES)

/** Returns nanoseconds since 1970. A time without a zone is in UTC. */
export function timeFrom(text: string | undefined): bigint | undefined {
  const time = parseDate(text?.trim())
  return time !== undefined && time >= EARLIEST_NS ? time : undefined
}

/** Returns nanoseconds. Some reporters separate thousands by commas. What is not a duration is 0. */
export function durationFrom(text: string | undefined): bigint {
  const seconds = Number(text?.replaceAll(',', '') || 0)
  if (!(seconds > 0)) return 0n
  return BigInt(Math.round(Math.min(seconds, MAX_SECONDS) * 1_000_000_000))
}

/** Returns the number of a line, counted from 1. `firstLine` is the number that the reporter gives to the first line. */
export function lineFrom(text: string | undefined, firstLine: 0 | 1): number | undefined {
  if (text === undefined || !/^\d{1,9}$/.test(text.trim())) return undefined
  const line = Number(text) + 1 - firstLine
  return line > 0 ? line : undefined
}
