import type { ComparisonWork } from './comparison-work.ts'

/**
 * The limit of edits in the search for a shortest diff. Beyond it, all changed lines are shown as removed and added.
 */
const MAX_EDITS = 1_000
/** The limit of lines of either side, without the lines that both share at the beginning and at the end. */
export const MAX_SEARCHED_LINES = 10_000
/** The limit of lines compared in one search, which takes some 10 ms. */
const MAX_STEPS = 2_000_000
const CONTEXT_LINES = 3

type LineKind = ' ' | '-' | '+'

interface DiffLine {
  readonly kind: LineKind
  /** The text with its line feed, if it has one. */
  readonly text: string
}

export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/**
 * Returns a shortest diff from `before` to `after`, with removals before additions.
 *
 * @param work takes the steps of the comparison, which is always completed
 * @see Myers, An O(ND) Difference Algorithm (1986)
 */
export function diffLines(before: readonly string[], after: readonly string[], work?: ComparisonWork): DiffLine[] {
  work?.takeLines(before.length + after.length)
  const { start, end, old, fresh } = middleOf(before, after)
  const kept = (text: string): DiffLine => ({ kind: ' ', text })
  const furthest = search(old, fresh, work)
  return [
    ...before.slice(0, start).map(kept),
    ...(furthest === undefined ? [...old.map(removed), ...fresh.map(added)] : scriptOf(furthest, old, fresh)),
    ...before.slice(before.length - end).map(kept),
  ]
}

/**
 * Returns for each line of `after` its position in `before`, and -1 for an added line. A group of added lines is moved down as far as
 * the lines allow, as Git does: if one of two equal blocks was added, it is the second one.
 *
 * @param work takes the steps of the comparison, which is always completed
 */
export function keptLines(before: readonly string[], after: readonly string[], work?: ComparisonWork): Int32Array {
  work?.takeLines(before.length + after.length)
  const { start, end, old, fresh } = middleOf(before, after)
  const furthest = search(old, fresh, work)
  const script = furthest === undefined ? [...old.map(removed), ...fresh.map(added)] : scriptOf(furthest, old, fresh)
  const kinds = new Uint8Array(start + script.length + end)
  script.forEach(({ kind }, at) => {
    kinds[start + at] = kindCodes[kind]
  })
  moveAdditionsDown(kinds, after, work)
  const kept = new Int32Array(after.length).fill(-1)
  let [x, y] = [0, 0]
  for (const kind of kinds) {
    if (kind === KEPT) kept[y] = x
    if (kind !== ADDED) x += 1
    if (kind !== REMOVED) y += 1
  }
  return kept
}

const KEPT = 0
const REMOVED = 1
const ADDED = 2
const kindCodes: Readonly<Record<LineKind, number>> = { ' ': KEPT, '-': REMOVED, '+': ADDED }

/** Moves each group of added lines down as far as the lines allow. @param kinds the kinds of the lines of a diff; changed in place */
function moveAdditionsDown(kinds: Uint8Array, after: readonly string[], work: ComparisonWork | undefined): void {
  let line = after.length - 1
  for (let end = kinds.length - 1; end >= 0; end -= 1) {
    if (kinds[end] === ADDED) {
      let start = end
      while (start > 0 && kinds[start - 1] === ADDED) start -= 1
      let [first, next] = [start, end + 1]
      while (kinds[next] === KEPT && after[line + next - end] === after[line + first - end]) {
        kinds[first] = KEPT
        kinds[next] = ADDED
        first += 1
        next += 1
      }
      work?.takeSteps(next - start)
      line -= end - start
      end = start
    }
    if (kinds[end] !== REMOVED) line -= 1
  }
}

/**
 * Returns the number of removals and additions of a shortest diff, or `undefined` if the search would take too long.
 */
export function leastEdits(
  before: readonly string[],
  after: readonly string[],
  work?: ComparisonWork,
): number | undefined {
  work?.takeLines(before.length + after.length)
  const furthest = search(before, after, work)
  return furthest && furthest.length - 1
}

/**
 * Returns the lines without those that both sides share: `start` lines at the beginning, and `end` lines at the end.
 */
function middleOf(before: readonly string[], after: readonly string[]) {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  return {
    start,
    end,
    old: before.slice(start, before.length - end),
    fresh: after.slice(start, after.length - end),
  }
}

/** Returns the hunks of a unified diff, beginning with `@@ -1,3 +1,4 @@`, with three lines of context. */
export function unifiedDiff(lines: readonly DiffLine[]): string {
  const near = new Uint8Array(lines.length)
  lines.forEach(({ kind }, at) => {
    if (kind !== ' ') near.fill(1, Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1)
  })
  let [oldLine, newLine] = [1, 1]
  let text = ''
  for (let at = 0; at < lines.length; ) {
    let end = at
    while (end < lines.length && near[end] === near[at]) end += 1
    const hunk = lines.slice(at, end)
    const [olds, news] = [
      hunk.filter(({ kind }) => kind !== '+').length,
      hunk.filter(({ kind }) => kind !== '-').length,
    ]
    if (near[at]) text += `@@ -${range(oldLine, olds)} +${range(newLine, news)} @@\n${hunk.map(formatLine).join('')}`
    oldLine += olds
    newLine += news
    at = end
  }
  return text
}

const removed = (text: string): DiffLine => ({ kind: '-', text })
const added = (text: string): DiffLine => ({ kind: '+', text })

/** Returns the range of a hunk. An empty range begins at the line before. */
const range = (first: number, count: number): string =>
  count === 1 ? `${first}` : `${count === 0 ? first - 1 : first},${count}`

const formatLine = ({ kind, text }: DiffLine): string =>
  text.endsWith('\n') ? `${kind}${text}` : `${kind}${text}\n\\ No newline at end of file\n`

/**
 * The furthest old lines that can be reached with `d` edits, one for each diagonal. The diagonal `k` (position in the
 * old text minus position in the new text) has the index `(k + d) / 2`.
 */
type Reached = Int32Array

/**
 * Returns the furthest lines for each number of edits, up to the smallest number that turns one text into the other;
 * `undefined` if a limit is exceeded.
 */
function search(before: readonly string[], after: readonly string[], work?: ComparisonWork): Reached[] | undefined {
  if (Math.max(before.length, after.length) > MAX_SEARCHED_LINES) return undefined
  work?.takeSearchedLines(before.length + after.length)
  const numbers = new Map<string, number>()
  const numberOf = (line: string) => {
    const number = numbers.get(line) ?? numbers.size
    numbers.set(line, number)
    return number
  }
  const numbered = (lines: readonly string[]) => Int32Array.from(lines, numberOf)
  return searchNumbered(numbered(before), numbered(after), work)
}

function searchNumbered(before: Int32Array, after: Int32Array, work?: ComparisonWork): Reached[] | undefined {
  const furthest: Reached[] = []
  let steps = 0
  for (let edits = 0; edits <= Math.min(MAX_EDITS, before.length + after.length); edits += 1) {
    const last = furthest[edits - 1]
    const reached = new Int32Array(edits + 1)
    furthest.push(reached)
    const stepsBefore = steps
    for (let index = 0; index <= edits; index += 1) {
      const k = 2 * index - edits
      let x = last === undefined ? 0 : stepTo(last, index)
      const from = x
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1
      reached[index] = x
      steps += 1 + x - from
      if (x >= before.length && x - k >= after.length) {
        work?.takeSteps(steps - stepsBefore)
        return furthest
      }
    }
    work?.takeSteps(steps - stepsBefore)
    if (steps > MAX_STEPS) return undefined
  }
  return undefined
}

/** Returns whether the step from `last` to `index`, with one more edit, is an addition. */
const isAddition = (last: Reached, index: number): boolean =>
  index === 0 || (index !== last.length && last[index - 1]! < last[index]!)

const stepTo = (last: Reached, index: number): number => (isAddition(last, index) ? last[index]! : last[index - 1]! + 1)

function scriptOf(furthest: readonly Reached[], before: readonly string[], after: readonly string[]): DiffLine[] {
  const backwards: DiffLine[] = []
  let [x, y] = [before.length, after.length]
  for (let edits = furthest.length - 1; edits >= 0; edits -= 1) {
    const last = furthest[edits - 1]
    const index = (x - y + edits) / 2
    const from = last === undefined ? 0 : stepTo(last, index)
    while (x > from) {
      x -= 1
      y -= 1
      backwards.push({ kind: ' ', text: before[x]! })
    }
    if (last === undefined) break
    if (isAddition(last, index)) backwards.push(added(after[--y]!))
    else backwards.push(removed(before[--x]!))
  }
  return backwards.reverse()
}
