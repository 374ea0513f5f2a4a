import { isBinary } from './commit-diff.ts'
import { modes, type TreeEntry } from './git-object.ts'
import type { GitRepository, WritableRepository } from './git-repository.ts'
import { linesOf } from './line-diff.ts'
import { mergeLines } from './merge-lines.ts'
import { inOwnTurn } from './own-turn.ts'
import { isFile } from './tree-draft.ts'

/** A merge with a larger file that both sides changed is not tried. */
const MAX_MERGED_BYTES = 1024 * 1024

/** The limits of a merge: files that both sides changed, their bytes in sum, and directories. */
export interface MergeLimits {
  readonly files: number
  readonly bytes: number
  readonly directories: number
}
const MERGE_LIMITS: MergeLimits = { files: 1_000, bytes: 1024 * 1024 * 1024, directories: 10_000 }

/** The ids of three trees; `undefined` means the empty tree. */
interface MergedSides {
  /** The tree from which both sides started. */
  readonly base: string | undefined
  readonly ours: string | undefined
  readonly theirs: string | undefined
}

/** An entry of a merged directory: an existing one, a directory to write, or a file with new content. */
export type MergedEntry =
  | TreeEntry
  | { readonly name: string; readonly entries: readonly MergedEntry[] }
  | { readonly name: string; readonly mode: string; readonly content: Uint8Array }

/**
 * The result of a merge: the entries of the new tree; `unchanged` if it is the tree of our side; `conflict` if both sides
 * changed the same lines, or the same file in ways that cannot be combined; `too_large` beyond a limit.
 */
export type MergeResult = readonly MergedEntry[] | 'unchanged' | Unmerged

type Unmerged = 'conflict' | 'too_large'

/**
 * Merges the changes from `base` to `theirs` into `ours`. Writes nothing. Renames are not followed: a file that one side
 * renamed and the other changed is a conflict.
 */
export function mergeTrees(
  repository: GitRepository,
  sides: MergedSides,
  limits: MergeLimits = MERGE_LIMITS,
): Promise<MergeResult> {
  return mergeDirectories({ repository, ...limits }, sides)
}

/** Writes the trees and files of a merge, and returns the id of the tree. */
export async function writeMergedTree(
  repository: WritableRepository,
  entries: readonly MergedEntry[],
): Promise<string> {
  const written: TreeEntry[] = []
  for (const entry of entries) {
    const { name } = entry
    if ('entries' in entry) {
      written.push({ name, mode: modes.tree, oid: await writeMergedTree(repository, entry.entries) })
    } else if ('content' in entry) {
      written.push({ name, mode: entry.mode, oid: await repository.writeBlob(entry.content) })
    } else written.push(entry)
  }
  return repository.writeTree(written)
}

/** The repository, with what is left of the limits. */
interface Merge {
  readonly repository: GitRepository
  files: number
  bytes: number
  directories: number
}

async function mergeDirectories(merge: Merge, { base, ours, theirs }: MergedSides): Promise<MergeResult> {
  if (theirs === base || theirs === ours) return 'unchanged'
  merge.directories -= 1
  if (merge.directories < 0) return 'too_large'
  const [inBase, inOurs, inTheirs] = [
    await entriesOf(merge, base),
    await entriesOf(merge, ours),
    await entriesOf(merge, theirs),
  ]
  const merged: MergedEntry[] = []
  let isUnchanged = true
  for (const name of new Set([...inOurs.keys(), ...inTheirs.keys()])) {
    const own = inOurs.get(name)
    const entry = await mergeEntry(merge, inBase.get(name), own, inTheirs.get(name))
    if (isUnmerged(entry)) return entry
    if (entry !== own) isUnchanged = false
    if (entry !== undefined) merged.push(entry)
  }
  return isUnchanged ? 'unchanged' : merged
}

async function entriesOf({ repository }: Merge, tree: string | undefined): Promise<ReadonlyMap<string, TreeEntry>> {
  return new Map(tree === undefined ? [] : (await repository.tree(tree)).map((entry) => [entry.name, entry]))
}

type Entry = TreeEntry | undefined

/** Returns `ours` itself if the merge does not change it. */
async function mergeEntry(
  merge: Merge,
  base: Entry,
  ours: Entry,
  theirs: Entry,
): Promise<MergedEntry | undefined | Unmerged> {
  if (isSame(ours, theirs) || isSame(base, theirs)) return ours
  if (isSame(base, ours)) return theirs
  if ([base, ours, theirs].every((entry) => entry === undefined || entry.mode === modes.tree)) {
    const entries = await mergeDirectories(merge, { base: base?.oid, ours: ours?.oid, theirs: theirs?.oid })
    if (entries === 'unchanged') return ours
    if (isUnmerged(entries)) return entries
    return entries.length === 0 ? undefined : { name: (ours ?? theirs)!.name, entries }
  }
  if (base === undefined || ours === undefined || theirs === undefined) return 'conflict'
  if (![base, ours, theirs].every(isFile)) return 'conflict'
  return mergeFile(merge, base, ours, theirs)
}

const isUnmerged = (result: unknown): result is Unmerged => result === 'conflict' || result === 'too_large'

const isSame = (one: Entry, other: Entry): boolean => one?.oid === other?.oid && one?.mode === other?.mode

async function mergeFile(
  merge: Merge,
  base: TreeEntry,
  ours: TreeEntry,
  theirs: TreeEntry,
): Promise<MergedEntry | Unmerged> {
  const mode = base.mode === ours.mode ? theirs.mode : ours.mode
  const withMode = (entry: TreeEntry) => (mode === ours.mode && entry === ours ? ours : { ...entry, mode })
  if (ours.oid === theirs.oid || base.oid === theirs.oid) return withMode(ours)
  if (base.oid === ours.oid) return withMode(theirs)
  merge.files -= 1
  if (merge.files < 0) return 'too_large'
  const texts: string[] = []
  for (const { oid } of [base, ours, theirs]) {
    const size = await merge.repository.blobSize(oid)
    merge.bytes -= size
    if (size > MAX_MERGED_BYTES || merge.bytes < 0) return 'too_large'
    const bytes = await merge.repository.blob(oid)
    if (isBinary(bytes)) return 'conflict'
    // In this encoding, every sequence of bytes keeps its value.
    texts.push(Buffer.from(bytes).toString('latin1'))
  }
  const [before, own, other] = texts as [string, string, string]
  const text = await inOwnTurn(() => mergeLines(linesOf(before), linesOf(own), linesOf(other))?.join(''))
  if (text === undefined) return 'conflict'
  return text === own ? withMode(ours) : { name: ours.name, mode, content: Buffer.from(text, 'latin1') }
}
