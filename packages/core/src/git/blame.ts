import { changesBetween, MAX_FILES } from './commit-diff.ts'
import type { GitRepository } from './git-repository.ts'
import { entryAt, type HistoryHeader, MAX_SEARCHED } from './history.ts'
import { type DiffLine, diffLines, linesOf } from './line-diff.ts'
import { NewestFirst } from './newest-first.ts'
import { inOwnTurn } from './own-turn.ts'

/** The maximum number of versions of the file that are compared, and of lines in all of them together. */
const MAX_COMPARED = 5_000
const MAX_COMPARED_LINES = 2_000_000
/** The limit of versions that are kept in memory. */
const MAX_TEXTS = 4

/** A version of the file, and its lines that are still to be attributed. */
interface Suspect {
  readonly commit: HistoryHeader
  readonly segments: readonly string[]
  readonly blob: string
  /** Maps each line of this version to its line in the blamed file. */
  readonly lines: Map<number, number>
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
  waiting.add({ commit, segments, blob, lines: new Map(Array.from({ length: count }, (_, line) => [line, line])) })
  let compared = 0
  let linesLeft = MAX_COMPARED_LINES
  for (let searched = 0; ; searched += 1) {
    const suspect = waiting.takeNewest()
    if (suspect === undefined) return result
    if (searched === MAX_SEARCHED || compared > MAX_COMPARED) return undefined
    const versions = await versionsInParents(repository, suspect)
    const same = versions.find((version) => version.blob === suspect.blob)
    if (same !== undefined) {
      waiting.add({ ...same, lines: suspect.lines })
      continue
    }
    for (const version of versions) {
      if (suspect.lines.size === 0) break
      compared += 1
      const [before, after] = [await texts(version.blob), await texts(suspect.blob)]
      linesLeft -= before.length + after.length
      if (linesLeft < 0) return undefined
      const kept = await inOwnTurn(() => keptLines(before, after))
      const moved = new Map<number, number>()
      for (const [line, original] of suspect.lines) {
        const before = kept.get(line)
        if (before === undefined) continue
        moved.set(before, original)
        suspect.lines.delete(line)
      }
      if (moved.size > 0) waiting.add({ ...version, lines: moved })
    }
    for (const original of suspect.lines.values()) result[original] = suspect.commit
  }
}

/** The versions that are still to be examined. A version that is added twice gets the lines of both additions. */
class SuspectQueue {
  readonly #waiting = new NewestFirst<Suspect>(({ commit }) => commit.committer.atSeconds)

  add(suspect: Suspect): void {
    const { commit, segments, lines } = suspect
    const path = segments.join('/')
    const known = this.#waiting.items.find(
      (other) => other.commit.oid === commit.oid && other.segments.join('/') === path,
    )
    if (known !== undefined) {
      for (const [line, original] of lines) known.lines.set(line, original)
      return
    }
    this.#waiting.add(suspect)
  }

  takeNewest(): Suspect | undefined {
    return this.#waiting.take()
  }
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

/** Returns a map of the lines that the change keeps, from their position after the change to that before it. */
function keptLines(before: readonly string[], after: readonly string[]): Map<number, number> {
  const kept = new Map<number, number>()
  let [old, fresh] = [0, 0]
  for (const { kind } of withAdditionsMovedDown(diffLines(before, after))) {
    if (kind === ' ') kept.set(fresh, old)
    if (kind !== '+') old += 1
    if (kind !== '-') fresh += 1
  }
  return kept
}

/**
 * Moves each group of added lines down as far as the lines allow, as Git does. If one of two equal blocks was added,
 * the second one counts as the added one.
 */
function withAdditionsMovedDown(lines: readonly DiffLine[]): DiffLine[] {
  const moved = [...lines]
  for (let end = moved.length - 1; end >= 0; end -= 1) {
    if (moved[end]!.kind !== '+') continue
    let start = end
    while (start > 0 && moved[start - 1]!.kind === '+') start -= 1
    let [first, next] = [start, end + 1]
    while (moved[next]?.kind === ' ' && moved[next]!.text === moved[first]!.text) {
      moved[first] = { kind: ' ', text: moved[first]!.text }
      moved[next] = { kind: '+', text: moved[next]!.text }
      first += 1
      next += 1
    }
    end = start
  }
  return moved
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
