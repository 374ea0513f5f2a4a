import type { TreeEntry } from './git-object.ts'

/** The limit of the entries of all trees in the cache. */
const MAX_ENTRIES = 50_000

/** The trees by repository and id, the least recently used first. A tree never changes. */
const cache = new Map<string, readonly TreeEntry[]>()
let entries = 0

/**
 * Returns a tree of a repository from the cache, or reads it. A change of one file makes new trees only for the directories
 * above it, so that a wiki with many directories is not read again after each change.
 */
export async function cachedTree(
  gitdir: string,
  oid: string,
  read: () => Promise<readonly TreeEntry[]>,
): Promise<readonly TreeEntry[]> {
  const key = `${oid} ${gitdir}`
  const tree = cache.get(key) ?? (await read())
  store(key, tree)
  return tree
}

function store(key: string, tree: readonly TreeEntry[]): void {
  forget(key)
  if (sizeOf(tree) > MAX_ENTRIES) return
  cache.set(key, tree)
  entries += sizeOf(tree)
  for (const oldest of cache.keys()) {
    if (entries <= MAX_ENTRIES) return
    forget(oldest)
  }
}

function forget(key: string): void {
  const tree = cache.get(key)
  if (tree === undefined) return
  cache.delete(key)
  entries -= sizeOf(tree)
}

/** Counts the place of the tree as an entry, because there may be many empty ones. */
const sizeOf = (tree: readonly TreeEntry[]): number => tree.length + 1
