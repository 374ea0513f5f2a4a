import { type CommitHeader, type CommitObject, modes, type TreeEntry } from './git-object.ts'
import type { GitRepository } from './git-repository.ts'
import { NewestFirst } from './newest-first.ts'

/** The limit of commits that a search visits. */
export const MAX_SEARCHED = 20_000

export interface HistoryHeader extends CommitHeader {
  readonly oid: string
}

export interface HistoryCommit extends HistoryHeader, CommitObject {}

export interface HistoryFilter {
  /** Limits the history to commits that changed the file or directory at this path. */
  readonly segments?: readonly string[] | undefined
  /** Bounds of the committer time, both inclusive. */
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  readonly firstParentOnly?: boolean | undefined
  /** A part of `Name <e-mail>`, ignoring case. */
  readonly author?: string | undefined
  /** A part of the message, ignoring case. */
  readonly text?: string | undefined
}

/**
 * Yields the commits reachable from `tips`, newest first by committer time. A commit never comes before a visited
 * commit that descends from it. Ends after visiting `MAX_SEARCHED` commits.
 */
export async function* history(
  repository: GitRepository,
  tips: readonly string[],
  { segments, sinceMs = -Infinity, untilMs = Infinity, firstParentOnly, author, text }: HistoryFilter = {},
): AsyncGenerator<HistoryCommit> {
  const seen = new Set<string>()
  const waiting = new NewestFirst<HistoryCommit>(({ committer }) => committer.atSeconds)
  const add = async (oid: string) => {
    if (seen.has(oid)) return
    seen.add(oid)
    waiting.add({ oid, ...(await repository.commit(oid)) })
  }
  const [wanted, part] = [author?.toLowerCase(), text?.toLowerCase()]
  for (const tip of tips) await add(tip)
  for (let searched = 0; searched < MAX_SEARCHED; searched += 1) {
    const commit = waiting.take()
    if (commit === undefined) return
    const atMs = commit.committer.atSeconds * 1_000
    // Its ancestors are even older.
    if (atMs < sinceMs) continue
    const parents = firstParentOnly ? commit.parents.slice(0, 1) : commit.parents
    const same = segments && (await parentWithSameEntry(repository, commit, parents, segments))
    for (const parent of same ? [same] : parents) await add(parent)
    if (same !== undefined || atMs > untilMs) continue
    if (segments && parents.length === 0 && (await entryAt(repository, commit.tree, segments)) === undefined) continue
    if (wanted && !`${commit.author.name} <${commit.author.email}>`.toLowerCase().includes(wanted)) continue
    if (part && !commit.message.toLowerCase().includes(part)) continue
    yield commit
  }
}

/** Returns the last commit that changed the file or directory at a path, among the newest `MAX_SEARCHED` commits. */
export async function lastChange(
  repository: GitRepository,
  tip: string,
  segments: readonly string[],
): Promise<HistoryCommit | undefined> {
  for await (const commit of history(repository, [tip], { segments })) return commit
  return undefined
}

/** Returns the candidates that are `tip` or an ancestor of it. */
export async function ancestorsAmong(
  repository: GitRepository,
  tip: string,
  candidates: ReadonlySet<string>,
): Promise<Set<string>> {
  const found = new Set<string>()
  if (candidates.size === 0) return found
  for await (const { oid } of history(repository, [tip])) {
    if (candidates.has(oid)) found.add(oid)
    if (found.size === candidates.size) break
  }
  return found
}

/** Returns the entry at a path of a tree, or `undefined` if there is none. The empty path is the tree itself. */
export async function entryAt(
  repository: Pick<GitRepository, 'tree'>,
  tree: string,
  segments: readonly string[],
): Promise<TreeEntry | undefined> {
  let entry: TreeEntry | undefined = { name: '', mode: modes.tree, oid: tree }
  for (const segment of segments) {
    if (entry?.mode !== modes.tree) return undefined
    const entries: readonly TreeEntry[] = await repository.tree(entry.oid)
    entry = entries.find(({ name }) => name === segment)
  }
  return entry
}

async function parentWithSameEntry(
  repository: GitRepository,
  commit: HistoryCommit,
  parents: readonly string[],
  segments: readonly string[],
): Promise<string | undefined> {
  const inCommit = await entryAt(repository, commit.tree, segments)
  for (const parent of parents) {
    const inParent = await entryAt(repository, (await repository.commit(parent)).tree, segments)
    if (inParent?.oid === inCommit?.oid && inParent?.mode === inCommit?.mode) return parent
  }
  return undefined
}
