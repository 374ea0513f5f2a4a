import { ComparisonWork } from './comparison-work.ts'
import { countEditedLines, countLines } from './edited-lines.ts'
import { modes, type TreeEntry } from './git-object.ts'
import type { GitRepository } from './git-repository.ts'
import { diffLines, linesOf, unifiedDiff } from './line-diff.ts'
import { inOwnTurn } from './own-turn.ts'

/** Further files are not shown. */
export const MAX_FILES = 1_000
/** The limits for either side of a file. A larger file is listed without its diff. */
const MAX_SHOWN_BYTES = 200 * 1024
const MAX_SHOWN_LINES = 10_000

export interface FileDiff {
  readonly oldPath: string
  readonly newPath: string
  /** `undefined` if the file did not exist before. `newMode` is `undefined` if the file does not exist afterwards. */
  readonly oldMode: string | undefined
  readonly newMode: string | undefined
  readonly isRenamed: boolean
  readonly isTooLarge: boolean
  /** The unified diff without the lines that name the files. */
  readonly diff: string
}

export interface DiffStats {
  readonly additions: number
  readonly deletions: number
}

export interface Change {
  readonly oldPath: string
  readonly newPath: string
  readonly before: TreeEntry | undefined
  readonly after: TreeEntry | undefined
}

/** Returns the changes of a commit against its first parent, ordered by path, up to `MAX_FILES`. */
export async function changesOfCommit(repository: GitRepository, oid: string): Promise<Change[]> {
  return changesOf(repository, oid, MAX_FILES)
}

async function changesOf(repository: GitRepository, oid: string, limit: number): Promise<Change[]> {
  const { parents, tree } = await repository.commit(oid)
  const before = parents[0] && (await repository.commit(parents[0])).tree
  return changesBetween(repository, { before, after: tree }, limit)
}

/** Returns the changes between two trees; `undefined` means the empty tree. */
export async function changesBetween(
  repository: GitRepository,
  trees: { readonly before: string | undefined; readonly after: string | undefined },
  limit: number,
): Promise<Change[]> {
  const changes: Change[] = []
  await collectChanges(repository, '', trees, changes, limit)
  return withRenames(changes)
}

/** Returns the diff of a file. If all work is done, the file is marked as too large. */
export async function diffOf(
  repository: GitRepository,
  { oldPath, newPath, before, after }: Change,
  work = newDiffWork(),
): Promise<FileDiff> {
  if (work.isDone) return withoutText({ oldPath, newPath, before, after })
  const isReadable = Math.max(await sizeOf(repository, before), await sizeOf(repository, after)) <= MAX_SHOWN_BYTES
  if (!isReadable) return withoutText({ oldPath, newPath, before, after })
  const [old, fresh] = [await bytesOf(repository, before), await bytesOf(repository, after)]
  work.takeBytes(old.length + fresh.length)
  const isTooLarge = !isSmallEnough(old, fresh) || Math.max(countLines(old), countLines(fresh)) > MAX_SHOWN_LINES
  return {
    oldPath,
    newPath,
    oldMode: before?.mode,
    newMode: after?.mode,
    isRenamed: oldPath !== newPath,
    isTooLarge,
    diff:
      isTooLarge || before?.oid === after?.oid
        ? ''
        : repository.admittedText(await inOwnTurn(() => textDiff(old, fresh, { oldPath, newPath }, work))),
  }
}

/** The limit of steps for the diffs of one answer: at most 0.3 s of processor time. Further files are listed without their diff. */
const MAX_DIFF_STEPS = 15_000_000

const newDiffWork = () => new ComparisonWork(MAX_DIFF_STEPS)

/** Returns the diffs of one page of changes. Those that take too much work are marked as too large. */
export async function diffsOfPage(
  repository: GitRepository,
  changes: readonly Change[],
  { unidiff }: { readonly unidiff?: boolean | null | undefined },
): Promise<FileDiff[]> {
  const work = newDiffWork()
  const diffs: FileDiff[] = []
  for (const change of changes) diffs.push(await diffOf(repository, change, work))
  return unidiff ? diffs.map(withFileNames) : diffs
}

/** The maximum length of the diffs of one answer together. Further files are listed without their diff. */
const MAX_TEXT_LENGTH = 5 * 1024 * 1024

/** Returns the diff of each file, in input order. Files beyond one of the limits are marked as too large. */
async function diffsOf(repository: GitRepository, changes: readonly Change[]): Promise<FileDiff[]> {
  const diffs: FileDiff[] = []
  const work = newDiffWork()
  let left = MAX_TEXT_LENGTH
  for (const change of changes) {
    const diff = left > 0 ? await diffOf(repository, change, work) : withoutText(change)
    left -= diff.diff.length
    diffs.push(left >= 0 ? diff : withoutText(change))
  }
  return diffs
}

const withoutText = ({ oldPath, newPath, before, after }: Change): FileDiff => ({
  oldPath,
  newPath,
  oldMode: before?.mode,
  newMode: after?.mode,
  isRenamed: oldPath !== newPath,
  isTooLarge: true,
  diff: '',
})

/** Returns the diff with the two lines that name the files, as in a patch. */
export function withFileNames(file: FileDiff): FileDiff {
  if (!file.diff.startsWith('@@')) return file
  const old = file.oldMode === undefined ? '/dev/null' : `a/${file.oldPath}`
  const fresh = file.newMode === undefined ? '/dev/null' : `b/${file.newPath}`
  return { ...file, diff: `--- ${old}\n+++ ${fresh}\n${file.diff}` }
}

/** Diffs of at most `MAX_FILES` files. */
export interface ShownDiffs {
  readonly diffs: readonly FileDiff[]
  /** Whether files are missing in `diffs`, because there are too many. */
  readonly isIncomplete: boolean
}

/** Returns the changes between two trees, at most one more than `shownDiffs` shows. */
export const changesToShow = (
  repository: GitRepository,
  trees: Parameters<typeof changesBetween>[1],
): Promise<Change[]> => changesBetween(repository, trees, MAX_FILES + 1)

/** Returns the diffs of the first `MAX_FILES` changes, with the names of the files if `unidiff` is set. */
export async function shownDiffs(
  repository: GitRepository,
  changes: readonly Change[],
  { unidiff }: { readonly unidiff?: boolean | null | undefined },
): Promise<ShownDiffs> {
  const diffs = await diffsOf(repository, changes.slice(0, MAX_FILES))
  return { diffs: unidiff ? diffs.map(withFileNames) : diffs, isIncomplete: changes.length > MAX_FILES }
}

/**
 * Counts the added and removed lines of the files that are small enough to be shown, and reduces the budget.
 *
 * @returns `undefined` if the budget is used up
 */
export async function countStats(
  repository: GitRepository,
  oid: string,
  budget: DiffBudget,
): Promise<DiffStats | undefined> {
  const stats = await countFileStats(repository, await changesOf(repository, oid, budget.files + 1), budget)
  return stats && sumOf(stats)
}

export interface FileStats extends DiffStats {
  /** The path after the change. */
  readonly path: string
}

/** Works like `countStats`, but counts for each file. A file too large to be shown has 0 added and removed lines. */
export async function countFileStats(
  repository: GitRepository,
  changes: readonly Change[],
  budget: DiffBudget,
): Promise<FileStats[] | undefined> {
  const stats: FileStats[] = []
  for (const { newPath: path, before, after } of changes) {
    budget.files -= 1
    if (budget.files < 0 || budget.bytes < 0 || budget.work.isDone) return undefined
    stats.push({ path, ...(await editedLines(repository, before, after, budget)) })
  }
  return stats
}

export const sumOf = (stats: readonly DiffStats[]): DiffStats => ({
  additions: stats.reduce((sum, { additions }) => sum + additions, 0),
  deletions: stats.reduce((sum, { deletions }) => sum + deletions, 0),
})

async function editedLines(
  repository: GitRepository,
  before: TreeEntry | undefined,
  after: TreeEntry | undefined,
  budget: DiffBudget,
): Promise<DiffStats> {
  const none = { additions: 0, deletions: 0 }
  if (before?.oid === after?.oid) return none
  const [old, fresh] = [await bytesOf(repository, before), await bytesOf(repository, after)]
  budget.bytes -= old.length + fresh.length
  if (!isSmallEnough(old, fresh) || isBinary(old) || isBinary(fresh)) return none
  return inOwnTurn(() => countEditedLines(old, fresh, budget.work))
}

/** The remaining files and bytes that may be read to count lines, and the work that counting may take. */
export interface DiffBudget {
  files: number
  bytes: number
  readonly work: ComparisonWork
}

const isSmallEnough = (old: Uint8Array, fresh: Uint8Array): boolean =>
  Math.max(old.length, fresh.length) <= MAX_SHOWN_BYTES

function textDiff(
  old: Uint8Array,
  fresh: Uint8Array,
  { oldPath, newPath }: Pick<Change, 'oldPath' | 'newPath'>,
  work: ComparisonWork,
): string {
  if (isBinary(old) || isBinary(fresh)) return `Binary files a/${oldPath} and b/${newPath} differ\n`
  return unifiedDiff(diffLines(textLines(old), textLines(fresh), work))
}

const textLines = (bytes: Uint8Array): string[] => linesOf(Buffer.from(bytes).toString('utf8'))

/** Detects binary content as Git does: by a null byte at the beginning. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8_000).includes(0)

async function sizeOf(repository: GitRepository, entry: TreeEntry | undefined): Promise<number> {
  return entry === undefined || entry.mode === modes.submodule ? 0 : repository.blobSize(entry.oid)
}

async function bytesOf(repository: GitRepository, entry: TreeEntry | undefined): Promise<Uint8Array> {
  if (entry === undefined) return new Uint8Array()
  if (entry.mode === modes.submodule) return Buffer.from(`Subproject commit ${entry.oid}\n`)
  return repository.blob(entry.oid)
}

/** Merges a removed and an added file with identical content into a rename. */
function withRenames(changes: readonly Change[]): Change[] {
  const removed = new Map(
    changes
      .filter(({ after }) => !after)
      .toReversed()
      .map((change) => [change.before!.oid, change]),
  )
  const renamed = new Set<Change>()
  const merged = changes.map((change) => {
    const former = change.before === undefined ? removed.get(change.after!.oid) : undefined
    if (former === undefined || renamed.has(former)) return change
    renamed.add(former)
    return { ...change, oldPath: former.oldPath, before: former.before }
  })
  return merged.filter((change) => !renamed.has(change))
}

async function collectChanges(
  repository: GitRepository,
  prefix: string,
  { before, after }: { readonly before: string | undefined; readonly after: string | undefined },
  changes: Change[],
  limit: number,
): Promise<void> {
  if (before === after) return
  const [olds, news] = [await entriesOf(repository, before), await entriesOf(repository, after)]
  for (const name of [...new Set([...olds.keys(), ...news.keys()])].sort()) {
    if (changes.length >= limit) return
    const [old, fresh] = [olds.get(name), news.get(name)]
    if (old?.oid === fresh?.oid && old?.mode === fresh?.mode) continue
    const path = prefix + name
    const treeOf = (entry: TreeEntry | undefined) => (entry?.mode === modes.tree ? entry.oid : undefined)
    await collectChanges(repository, `${path}/`, { before: treeOf(old), after: treeOf(fresh) }, changes, limit)
    const file = (entry: TreeEntry | undefined) => (entry?.mode === modes.tree ? undefined : entry)
    const change = { oldPath: path, newPath: path, before: file(old), after: file(fresh) }
    if (change.before !== undefined || change.after !== undefined) changes.push(change)
  }
}

async function entriesOf(repository: GitRepository, tree: string | undefined): Promise<Map<string, TreeEntry>> {
  return new Map(tree === undefined ? [] : (await repository.tree(tree)).map((entry) => [entry.name, entry]))
}
