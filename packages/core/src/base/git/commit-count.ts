import type { GitRepository } from './git-repository.ts'
import { MAX_SEARCHED } from './history.ts'

const MAX_CACHED = 10_000

/**
 * Maps the id of the newest commit to the number of commits, which never changes. The oldest entry is evicted first.
 */
const cache = new Map<string, Promise<number>>()

/** Counts the commits of a history, up to `MAX_SEARCHED`. */
export function countCommits(repository: GitRepository, tip: string): Promise<number> {
  const cached = cache.get(tip)
  if (cached !== undefined) return cached
  const count = countFrom(repository, tip)
  cache.set(tip, count)
  count.catch(() => cache.delete(tip))
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!)
  return count
}

async function countFrom(repository: GitRepository, tip: string): Promise<number> {
  const found = new Set([tip])
  // The set grows during the iteration, which visits the added commits too.
  for (const oid of found) {
    for (const parent of (await repository.commit(oid)).parents) found.add(parent)
    if (found.size >= MAX_SEARCHED) return MAX_SEARCHED
  }
  return found.size
}

/** Counts the commits of the first parents of a history, up to `MAX_SEARCHED`. */
export async function countFirstParents(repository: GitRepository, tip: string): Promise<number> {
  let count = 0
  for (let at: string | undefined = tip; at !== undefined && count < MAX_SEARCHED; count += 1)
    at = (await repository.commitHeader(at)).parents[0]
  return count
}
