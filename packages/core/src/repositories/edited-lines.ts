import { leastEdits, linesOf, MAX_SEARCHED_LINES } from './line-diff.ts'

const LINE_FEED = 10

/** How many of the lines of `diffLines` are additions and removals, without making them. */
export function countEditedLines(
  old: Uint8Array,
  fresh: Uint8Array,
): { readonly additions: number; readonly deletions: number } {
  const middle = middleOf(old, fresh)
  const [deletions, additions] = [countLines(middle.old), countLines(middle.fresh)]
  // Split into lines it would be as many, and take its time.
  if (Math.max(deletions, additions) > MAX_SEARCHED_LINES) return { additions, deletions }
  const lines = (bytes: Uint8Array) => linesOf(Buffer.from(bytes).toString('latin1'))
  const edits = leastEdits(lines(middle.old), lines(middle.fresh))
  if (edits === undefined) return { additions, deletions }
  const more = additions - deletions
  return { additions: (edits + more) / 2, deletions: (edits - more) / 2 }
}

/** Without the whole lines that both begin and end with. */
function middleOf(old: Uint8Array, fresh: Uint8Array): { old: Uint8Array; fresh: Uint8Array } {
  const most = Math.min(old.length, fresh.length)
  let start = 0
  while (start < most && old[start] === fresh[start]) start += 1
  start = start === 0 ? 0 : old.lastIndexOf(LINE_FEED, start - 1) + 1
  let end = 0
  while (end < most - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1
  const isLineOfBoth = () =>
    [old, fresh].every((bytes) => bytes.length - end === start || bytes[bytes.length - 1 - end] === LINE_FEED)
  while (end > 0 && !isLineOfBoth()) end -= 1
  return { old: old.subarray(start, old.length - end), fresh: fresh.subarray(start, fresh.length - end) }
}

export function countLines(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (byte === LINE_FEED) count += 1
  return bytes.length > 0 && bytes.at(-1) !== LINE_FEED ? count + 1 : count
}
