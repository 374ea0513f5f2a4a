import { changesBetween, MAX_FILES } from './commit-diff.ts'
import { ComparisonWork } from './comparison-work.ts'
import type { GitRepository } from './git-repository.ts'
import { entryAt, type HistoryHeader, MAX_SEARCHED } from './history.ts'
import { keptLines, linesOf } from './line-diff.ts'
import { NewestFirst } from './newest-first.ts'
import { inOwnTurn } from './own-turn.ts'

/** The limit of versions of the file that are compared. */
const MAX_COMPARED = 5_000
/** The limit of steps for all comparisons: at most 0.4 s of processor time. */
const MAX_STEPS = 20_000_000
/** The limit of versions that are kept in memory. */
const MAX_TEXTS = 4

/** Pairs of a line of a version and its line in the blamed file, one after the other: a file may have 50,000 lines. */
type LinePairs = Int32Array

/** A version of the file, and its lines that are still to be attributed. */
interface Suspect {
  readonly commit: HistoryHeader
  readonly segments: readonly string[]
  readonly blob: string
  readonly lines: LinePairs
}

/**
 * Returns the commit that last changed each line of a file, as `git blame` does: a line that a parent has too is
 * searched for in that parent, and a line that no parent has is attributed to the commit. A renamed file is followed if
 * its content is the same.
 *
 * @returns `undefined` if the history of the file is too long
 */
export async function blame(
  repository: GitRepository,
  tip: string,
  segments: readonly string[],
): Promise<HistoryHeader[] | undefined> {
  const commit = { oid: tip, ...(await repository.commitHeader(tip)) }
  const { oid: blob } = (await entryAt(repository, commit.tree, segments))!
  const texts = textReader(repository)
  const count = (await texts(blob)).length
  const result: HistoryHeader[] = new Array(count)
  const waiting = new SuspectQueue()
  waiting.add({ commit, segments, blob, lines: Int32Array.from({ length: 2 * count }, (_, at) => at >> 1) })
  const work = new ComparisonWork(MAX_STEPS)
  let compared = 0
  for (let searched = 0; ; searched += 1) {
    const suspect = waiting.takeNewest()
    if (suspect === undefined) return result
    if (searched === MAX_SEARCHED || compared > MAX_COMPARED || work.isDone) return undefined
    const versions = await versionsInParents(repository, suspect)
    const same = versions.find((version) => version.blob === suspect.blob)
    if (same !== undefined) {
      waiting.add({ ...same, lines: suspect.lines })
      continue
    }
    let lines = suspect.lines
    for (const version of versions) {
      if (lines.length === 0) break
      if (work.isDone) return undefined
      compared += 1
      const [before, after] = [await texts(version.blob), await texts(suspect.blob)]
      const kept = await inOwnTurn(() => keptLines(before, after, work))
      const { moved, left } = moveToParent(lines, kept)
      if (moved.length > 0) waiting.add({ ...version, lines: moved })
      lines = left
    }
    for (let at = 1; at < lines.length; at += 2) result[lines[at]!] = suspect.commit
  }
}

/** Returns the pairs of the lines that a parent has too, with their lines there, and the others. */
function moveToParent(lines: LinePairs, kept: Int32Array): { readonly moved: LinePairs; readonly left: LinePairs } {
  const moved = new Int32Array(lines.length)
  const left = new Int32Array(lines.length)
  let [movedEnd, leftEnd] = [0, 0]
  for (let at = 0; at < lines.length; at += 2) {
    const before = kept[lines[at]!]!
    if (before === -1) {
      left[leftEnd++] = lines[at]!
      left[leftEnd++] = lines[at + 1]!
    } else {
      moved[movedEnd++] = before
      moved[movedEnd++] = lines[at + 1]!
    }
  }
  return { moved: moved.slice(0, movedEnd), left: left.slice(0, leftEnd) }
}

/** The versions that are still to be examined. A version that is added twice gets the lines of both additions. */
class SuspectQueue {
  readonly #waiting = new NewestFirst<{ -readonly [Key in keyof Suspect]: Suspect[Key] }>(
    ({ commit }) => commit.committer.atSeconds,
  )

  add(suspect: Suspect): void {
    const { commit, segments, lines } = suspect
    const path = segments.join('/')
    const known = this.#waiting.items.find(
      (other) => other.commit.oid === commit.oid && other.segments.join('/') === path,
    )
    if (known !== undefined) {
      known.lines = joined(known.lines, lines)
      return
    }
    this.#waiting.add({ ...suspect })
  }

  takeNewest(): Suspect | undefined {
    return this.#waiting.take()
  }
}

function joined(first: LinePairs, second: LinePairs): LinePairs {
  const both = new Int32Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** Returns the version of the file in each parent that has it. */
async function versionsInParents(
  repository: GitRepository,
  { commit, segments, blob }: Suspect,
): Promise<Omit<Suspect, 'lines'>[]> {
  const versions = []
  for (const oid of commit.parents) {
    const parent = { oid, ...(await repository.commitHeader(oid)) }
    const entry = await entryAt(repository, parent.tree, segments)
    if (entry?.mode.startsWith('100')) {
      versions.push({ commit: parent, segments, blob: entry.oid })
      continue
    }
    const changes = await changesBetween(repository, { before: parent.tree, after: commit.tree }, MAX_FILES)
    const renamed = changes.find(({ oldPath, newPath }) => newPath === segments.join('/') && oldPath !== newPath)
    if (renamed !== undefined) versions.push({ commit: parent, segments: renamed.oldPath.split('/'), blob })
  }
  return versions
}

/** Returns a reader of the lines of blobs. Each byte becomes one character. */
function textReader(repository: GitRepository): (oid: string) => Promise<readonly string[]> {
  const known = new Map<string, readonly string[]>()
  return async (oid) => {
    const lines = known.get(oid) ?? linesOf(Buffer.from(await repository.blob(oid)).toString('latin1'))
    known.delete(oid)
    known.set(oid, lines)
    if (known.size > MAX_TEXTS) known.delete(known.keys().next().value!)
    return lines
  }
}
