import { diffLines } from './line-diff.ts'

/** A range of lines of the common ancestor, from `start` up to `end`, that one side replaced. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly lines: readonly string[]
}

/**
 * Returns the lines with the edits of both sides, or `undefined` if they edited the same lines, or adjacent ones, in
 * different ways.
 */
export function mergeLines(
  base: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
): string[] | undefined {
  const [ourEdits, theirEdits] = [editsOf(base, ours), editsOf(base, theirs)]
  const merged: string[] = []
  let at = 0
  for (let [i, j] = [0, 0]; i < ourEdits.length || j < theirEdits.length; ) {
    const [fromI, fromJ] = [i, j]
    const start = Math.min(...[ourEdits[i], theirEdits[j]].flatMap((edit) => edit?.start ?? []))
    let end = start
    /** Extends the region by an edit that begins in it, or right after it. */
    const takes = (edit: Edit | undefined): boolean => {
      if (edit === undefined || edit.start > end) return false
      end = Math.max(end, edit.end)
      return true
    }
    for (;;) {
      if (takes(ourEdits[i])) i += 1
      else if (takes(theirEdits[j])) j += 1
      else break
    }
    const chosen = chooseSide(
      i === fromI ? undefined : withEdits(base, start, end, ourEdits.slice(fromI, i)),
      j === fromJ ? undefined : withEdits(base, start, end, theirEdits.slice(fromJ, j)),
    )
    if (chosen === undefined) return undefined
    for (const line of base.slice(at, start)) merged.push(line)
    for (const line of chosen) merged.push(line)
    at = end
  }
  return merged.concat(base.slice(at))
}

/** Returns the lines of the only side that edited a region, or of both sides if they agree. */
function chooseSide(
  ours: readonly string[] | undefined,
  theirs: readonly string[] | undefined,
): readonly string[] | undefined {
  if (ours === undefined || theirs === undefined) return ours ?? theirs
  return ours.length === theirs.length && ours.every((line, index) => line === theirs[index]) ? ours : undefined
}

function withEdits(base: readonly string[], start: number, end: number, edits: readonly Edit[]): string[] {
  const lines: string[] = []
  let at = start
  for (const edit of edits) {
    for (const line of base.slice(at, edit.start)) lines.push(line)
    for (const line of edit.lines) lines.push(line)
    at = edit.end
  }
  return lines.concat(base.slice(at, end))
}

function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  const edits: Edit[] = []
  let open: { start: number; lines: string[] } | undefined
  let at = 0
  const close = () => {
    if (open !== undefined) edits.push({ ...open, end: at })
    open = undefined
  }
  for (const { kind, text } of diffLines(before, after)) {
    if (kind === ' ') close()
    else open ??= { start: at, lines: [] }
    if (kind === '+') open!.lines.push(text)
    else at += 1
  }
  close()
  return edits
}
