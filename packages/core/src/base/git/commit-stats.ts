import { countStats, type DiffBudget, type DiffStats } from './commit-diff.ts'
import { ComparisonWork } from './comparison-work.ts'
import { FifoLock } from './fifo-lock.ts'
import type { GitRepository } from './git-repository.ts'
import type { RepositoryContext } from './repository-context.ts'

const MAX_FILES = 2_000
/**
 * The limit for all commits of one request: twice the number of files that one commit may have, and as many bytes
 * and steps as take about a second.
 */
const newBudget = (): DiffBudget => ({
  files: MAX_FILES,
  bytes: 20 * 1024 * 1024,
  work: new ComparisonWork(60_000_000),
})
const MAX_CACHED = 10_000
/** The maximum number of requests that wait until they may count, and how long each of them waits. */
const MAX_WAITING = 50
const MAX_WAIT_MS = 10_000

/**
 * Stats by commit id, with `undefined` for a commit too large to count. Stats never change. The oldest entry is evicted
 * first.
 */
const cache = new Map<string, DiffStats | undefined>()
/** Only one request of a process counts at a time, so that other requests are answered between two files. */
const locks = new WeakMap<RepositoryContext['db'], FifoLock>()

/**
 * Returns the added and removed lines of each commit in input order, with `undefined` where the limit of a request is
 * exceeded. Counted commits are cached, so the next request counts further ones.
 */
export async function statsOf(
  context: Pick<RepositoryContext, 'db' | 'clock'>,
  repository: GitRepository,
  oids: readonly string[],
): Promise<(DiffStats | undefined)[]> {
  if (!oids.every((oid) => cache.has(oid))) {
    await withCountingBudget(context, async (budget) => {
      for (const oid of oids) if (!cache.has(oid)) await count(repository, oid, budget)
    })
  }
  return oids.map((oid) => cache.get(oid))
}

/** Runs `work` exclusively with the budget of one request, or returns `undefined` if its turn does not come in time. */
export async function withCountingBudget<Result>(
  { db, clock }: Pick<RepositoryContext, 'db' | 'clock'>,
  work: (budget: DiffBudget) => Promise<Result>,
): Promise<Result | undefined> {
  const lock = locks.get(db) ?? new FifoLock(clock, MAX_WAITING)
  locks.set(db, lock)
  if (!(await lock.acquire(MAX_WAIT_MS))) return undefined
  try {
    return await work(newBudget())
  } finally {
    lock.release()
  }
}

async function count(repository: GitRepository, oid: string, budget: DiffBudget): Promise<void> {
  const isFullBudget = budget.files === MAX_FILES
  if (budget.files <= 0 || budget.bytes <= 0 || budget.work.isDone) return
  const stats = await countStats(repository, oid, budget)
  if (stats === undefined && !isFullBudget) return
  cache.set(oid, stats)
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!)
}
