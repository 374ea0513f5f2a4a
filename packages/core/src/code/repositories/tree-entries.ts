import { refused } from '../../base/git/commit-actions.ts'
import { modes, type TreeEntry } from '../../base/git/git-object.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { entryAt } from '../../base/git/history.ts'
import { segmentsOf } from '../../base/git/repository-path.ts'

/** A listing with more entries is rejected. */
const MAX_TREE_ENTRIES = 100_000

export interface RepositoryTreeEntry {
  readonly sha: string
  readonly name: string
  /** `commit` means a submodule. */
  readonly type: 'tree' | 'blob' | 'commit'
  readonly path: string
  readonly mode: string
}

/**
 * Returns the entries of a directory at a commit: directories first, then files, then submodules, each by path.
 *
 * @returns `undefined` if the commit has no such directory
 * @throws DomainError `refused` for more than `MAX_TREE_ENTRIES` entries
 */
export async function treeEntriesAt(
  git: GitRepository,
  commit: string,
  path: string,
  recursive: boolean,
): Promise<RepositoryTreeEntry[] | undefined> {
  const directory = path.replace(/^\/+|\/+$/g, '')
  const segments = directory === '' ? [] : segmentsOf(directory)
  const { tree } = await git.commitHeader(commit)
  const root = segments && (await entryAt(git, tree, segments))
  if (root?.mode !== modes.tree) return undefined
  const entries: RepositoryTreeEntry[] = []
  await collect(git, root.oid, directory === '' ? '' : `${directory}/`, recursive, entries)
  return (['tree', 'blob', 'commit'] as const).flatMap((type) => entries.filter((entry) => entry.type === type))
}

async function collect(
  git: GitRepository,
  tree: string,
  prefix: string,
  recursive: boolean,
  entries: RepositoryTreeEntry[],
): Promise<void> {
  for (const entry of await git.tree(tree)) {
    if (entries.length === MAX_TREE_ENTRIES) throw refused('The directory has too many files to list')
    const path = prefix + entry.name
    entries.push({ sha: entry.oid, name: entry.name, type: typeOfEntry(entry), path, mode: entry.mode })
    if (recursive && entry.mode === modes.tree) await collect(git, entry.oid, `${path}/`, recursive, entries)
  }
}

export function typeOfEntry({ mode }: TreeEntry): RepositoryTreeEntry['type'] {
  if (mode === modes.tree) return 'tree'
  return mode === modes.submodule ? 'commit' : 'blob'
}

/** A directory with more nested directories than this is shown with a shorter path. */
const MAX_FLAT_DIRECTORIES = 100

/** Returns the path of a directory, extended while its only content is another directory. */
export async function flatPathOf(
  git: Pick<GitRepository, 'tree'>,
  { path, sha, type }: RepositoryTreeEntry,
): Promise<string> {
  if (type !== 'tree') return path
  let flat = path
  let tree = sha
  for (let count = 0; count < MAX_FLAT_DIRECTORIES; count += 1) {
    const [only, ...others] = await git.tree(tree)
    if (only?.mode !== modes.tree || others.length > 0) break
    flat += `/${only.name}`
    tree = only.oid
  }
  return flat
}
