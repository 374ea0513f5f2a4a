import type { ComparisonWork } from './comparison-work.ts'
import { leastEdits, linesOf, MAX_SEARCHED_LINES } from './line-diff.ts'

const LINE_FEED = 10

/** Returns the numbers of additions and removals that `diffLines` would return, without building the lines. */
export function countEditedLines(
  old: Uint8Array,
  fresh: Uint8Array,
  work?: ComparisonWork,
): { readonly additions: number; readonly deletions: number } {
  const middle = middleOf(old, fresh)
  const [deletions, additions] = [countLines(middle.old), countLines(middle.fresh)]
  // The search would give up here, so the slow split into lines is skipped.
  if (Math.max(deletions, additions) > MAX_SEARCHED_LINES) return { additions, deletions }
  const lines = (bytes: Uint8Array) => linesOf(Buffer.from(bytes).toString('latin1'))
  const edits = leastEdits(lines(middle.old), lines(middle.fresh), work)
  if (edits === undefined) return { additions, deletions }
  const more = additions - deletions
  return { additions: (edits + more) / 2, deletions: (edits - more) / 2 }
}

/** Returns both texts without the whole lines that they share at the beginning and at the end. */
function middleOf(old: Uint8Array, fresh: Uint8Array): { old: Uint8Array; fresh: Uint8Array } {
  const shorter = Math.min(old.length, fresh.length)
  let start = 0
  while (start < shorter && old[start] === fresh[start]) start += 1
  start = start === 0 ? 0 : old.lastIndexOf(LINE_FEED, start - 1) + 1
  let end = 0
  while (end < shorter - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1
  const startsLineInBoth = () =>
    [old, fresh].every((bytes) => bytes.length - end === start || bytes[bytes.length - 1 - end] === LINE_FEED)
  while (end > 0 && !startsLineInBoth()) end -= 1
  return { old: old.subarray(start, old.length - end), fresh: fresh.subarray(start, fresh.length - end) }
}

export function countLines(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (byte === LINE_FEED) count += 1
  return bytes.length > 0 && bytes.at(-1) !== LINE_FEED ? count + 1 : count
}
