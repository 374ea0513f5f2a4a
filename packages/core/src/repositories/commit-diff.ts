import { modes, type TreeEntry } from './git-object.ts'
import type { GitRepository } from './git-repository.ts'
import { diffLines, linesOf, unifiedDiff } from './line-diff.ts'

/** Files beyond are not shown. */
const MAX_FILES = 1_000
/** Of either side of a file; larger ones are told of and not shown. */
const MAX_SHOWN_BYTES = 200 * 1024

export interface FileDiff {
  readonly oldPath: string
  readonly newPath: string
  /** `undefined`: there was none, or there is none any more. */
  readonly oldMode: string | undefined
  readonly newMode: string | undefined
  readonly isRenamed: boolean
  readonly isTooLarge: boolean
  /** Unified, without the lines that name the files. */
  readonly diff: string
}

export interface DiffStats {
  readonly additions: number
  readonly deletions: number
}

interface Change {
  readonly oldPath: string
  readonly newPath: string
  readonly before: TreeEntry | undefined
  readonly after: TreeEntry | undefined
}

/** Against the first parent, by path. */
export async function diffOfCommit(repository: GitRepository, oid: string): Promise<FileDiff[]> {
  const { parents, tree } = await repository.commit(oid)
  return diffOfTrees(repository, parents[0] && (await repository.commit(parents[0])).tree, tree)
}

export async function diffOfTrees(
  repository: GitRepository,
  before: string | undefined,
  after: string | undefined,
): Promise<FileDiff[]> {
  const diffs: FileDiff[] = []
  for (const change of await changesOf(repository, before, after)) diffs.push(await diffOf(repository, change))
  return diffs
}

export async function statsOf(repository: GitRepository, oid: string): Promise<DiffStats> {
  let [additions, deletions] = [0, 0]
  for (const { diff } of await diffOfCommit(repository, oid)) {
    additions += diff.match(/^\+/gm)?.length ?? 0
    deletions += diff.match(/^-/gm)?.length ?? 0
  }
  return { additions, deletions }
}

async function diffOf(repository: GitRepository, { oldPath, newPath, before, after }: Change): Promise<FileDiff> {
  const [old, fresh] = [await bytesOf(repository, before), await bytesOf(repository, after)]
  const isTooLarge = Math.max(old.length, fresh.length) > MAX_SHOWN_BYTES
  return {
    oldPath,
    newPath,
    oldMode: before?.mode,
    newMode: after?.mode,
    isRenamed: oldPath !== newPath,
    isTooLarge,
    diff: isTooLarge || before?.oid === after?.oid ? '' : textDiff(old, fresh, { oldPath, newPath }),
  }
}

function textDiff(
  old: Uint8Array,
  fresh: Uint8Array,
  { oldPath, newPath }: Pick<Change, 'oldPath' | 'newPath'>,
): string {
  if (isBinary(old) || isBinary(fresh)) return `Binary files a/${oldPath} and b/${newPath} differ\n`
  const lines = (bytes: Uint8Array) => linesOf(Buffer.from(bytes).toString('utf8'))
  return unifiedDiff(diffLines(lines(old), lines(fresh)))
}

/** As Git decides. */
const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8_000).includes(0)

async function bytesOf(repository: GitRepository, entry: TreeEntry | undefined): Promise<Uint8Array> {
  if (entry === undefined) return new Uint8Array()
  if (entry.mode === modes.submodule) return Buffer.from(`Subproject commit ${entry.oid}\n`)
  return repository.blob(entry.oid)
}

/** A file that ended and one that began with the very same content are one that was renamed. */
async function changesOf(
  repository: GitRepository,
  before: string | undefined,
  after: string | undefined,
): Promise<Change[]> {
  const changes: Change[] = []
  await collectChanges(repository, '', before, after, changes)
  const ended = new Map(
    changes
      .filter(({ after }) => !after)
      .toReversed()
      .map((change) => [change.before!.oid, change]),
  )
  const renamed = new Set<Change>()
  const merged = changes.map((change) => {
    const former = change.before === undefined ? ended.get(change.after!.oid) : undefined
    if (former === undefined || renamed.has(former)) return change
    renamed.add(former)
    return { ...change, oldPath: former.oldPath, before: former.before }
  })
  return merged.filter((change) => !renamed.has(change))
}

async function collectChanges(
  repository: GitRepository,
  prefix: string,
  before: string | undefined,
  after: string | undefined,
  changes: Change[],
): Promise<void> {
  if (before === after) return
  const [olds, news] = [await entriesOf(repository, before), await entriesOf(repository, after)]
  for (const name of [...new Set([...olds.keys(), ...news.keys()])].sort()) {
    if (changes.length >= MAX_FILES) return
    const [old, fresh] = [olds.get(name), news.get(name)]
    if (old?.oid === fresh?.oid && old?.mode === fresh?.mode) continue
    const path = prefix + name
    const treeOf = (entry: TreeEntry | undefined) => (entry?.mode === modes.tree ? entry.oid : undefined)
    await collectChanges(repository, `${path}/`, treeOf(old), treeOf(fresh), changes)
    const file = (entry: TreeEntry | undefined) => (entry?.mode === modes.tree ? undefined : entry)
    const change = { oldPath: path, newPath: path, before: file(old), after: file(fresh) }
    if (change.before !== undefined || change.after !== undefined) changes.push(change)
  }
}

async function entriesOf(repository: GitRepository, tree: string | undefined): Promise<Map<string, TreeEntry>> {
  return new Map(tree === undefined ? [] : (await repository.tree(tree)).map((entry) => [entry.name, entry]))
}
