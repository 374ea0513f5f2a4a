import type { GitRepository } from './git-repository.ts'
import { MAX_SEARCHED } from './history.ts'

const MAX_REMEMBERED = 10_000

/** By the commit they end with, whose id follows from all of them; those counted first are forgotten first. */
const remembered = new Map<string, Promise<number>>()

/** How many commits a history has, counted up to `MAX_SEARCHED`. */
export function countCommits(repository: GitRepository, tip: string): Promise<number> {
  const known = remembered.get(tip)
  if (known !== undefined) return known
  const count = countFrom(repository, tip)
  remembered.set(tip, count)
  count.catch(() => remembered.delete(tip))
  if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
  return count
}

async function countFrom(repository: GitRepository, tip: string): Promise<number> {
  const found = new Set([tip])
  // It grows while it is gone through.
  for (const oid of found) {
    for (const parent of (await repository.commit(oid)).parents) found.add(parent)
    if (found.size >= MAX_SEARCHED) return MAX_SEARCHED
  }
  return found.size
}
