/** Beyond, a search for the shortest script would take too long: then everything between is removed and added. */
const MAX_EDITS = 1_000
const CONTEXT_LINES = 3

export type LineKind = ' ' | '-' | '+'

export interface DiffLine {
  readonly kind: LineKind
  /** With its line feed, if it has one. */
  readonly text: string
}

export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** A shortest way from `before` to `after`, removals before additions. @see Myers, An O(ND) Difference Algorithm (1986) */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let same = 0
  const most = Math.min(before.length, after.length) - start
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1
  const [old, fresh] = [before.slice(start, before.length - same), after.slice(start, after.length - same)]
  const kept = (text: string): DiffLine => ({ kind: ' ', text })
  return [
    ...before.slice(0, start).map(kept),
    ...(shortestScript(old, fresh) ?? [...old.map(removed), ...fresh.map(added)]),
    ...before.slice(before.length - same).map(kept),
  ]
}

/** `@@ -1,3 +1,4 @@` and what follows, with three lines around each change. */
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
    if (near[at]) text += `@@ -${range(oldLine, olds)} +${range(newLine, news)} @@\n${hunk.map(printed).join('')}`
    oldLine += olds
    newLine += news
    at = end
  }
  return text
}

const removed = (text: string): DiffLine => ({ kind: '-', text })
const added = (text: string): DiffLine => ({ kind: '+', text })

/** Without lines, a range begins at the line before. */
const range = (first: number, count: number): string =>
  count === 1 ? `${first}` : `${count === 0 ? first - 1 : first},${count}`

const printed = ({ kind, text }: DiffLine): string =>
  text.endsWith('\n') ? `${kind}${text}` : `${kind}${text}\n\\ No newline at end of file\n`

/** `furthest[d][k]`: how far into `before` d edits reach on the diagonal k (k = place before - place after). */
function shortestScript(before: readonly string[], after: readonly string[]): DiffLine[] | undefined {
  const furthest: Map<number, number>[] = []
  for (let edits = 0; edits <= Math.min(MAX_EDITS, before.length + after.length); edits += 1) {
    const last = furthest[edits - 1]
    const reached = new Map<number, number>()
    furthest.push(reached)
    for (let k = -edits; k <= edits; k += 2) {
      let x = last === undefined ? 0 : stepTo(last, k, edits)
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1
      reached.set(k, x)
      if (x >= before.length && x - k >= after.length) return scriptOf(furthest, before, after)
    }
  }
  return undefined
}

const isAddition = (last: ReadonlyMap<number, number>, k: number, edits: number): boolean =>
  k === -edits || (k !== edits && last.get(k - 1)! < last.get(k + 1)!)

const stepTo = (last: ReadonlyMap<number, number>, k: number, edits: number): number =>
  isAddition(last, k, edits) ? last.get(k + 1)! : last.get(k - 1)! + 1

function scriptOf(
  furthest: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): DiffLine[] {
  const backwards: DiffLine[] = []
  let [x, y] = [before.length, after.length]
  for (let edits = furthest.length - 1; edits >= 0; edits -= 1) {
    const last = furthest[edits - 1]
    const k = x - y
    const from = last === undefined ? 0 : stepTo(last, k, edits)
    while (x > from) {
      x -= 1
      y -= 1
      backwards.push({ kind: ' ', text: before[x]! })
    }
    if (last === undefined) break
    if (isAddition(last, k, edits)) backwards.push(added(after[--y]!))
    else backwards.push(removed(before[--x]!))
  }
  return backwards.reverse()
}
