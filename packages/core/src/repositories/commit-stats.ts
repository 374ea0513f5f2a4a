import type { Core } from '../kit/context.ts'
import { countStats, type DiffBudget, type DiffStats } from './commit-diff.ts'
import type { GitRepository } from './git-repository.ts'
import { WaitingLine } from './waiting-line.ts'

/** For the commits of one request: twice what a commit may change here, and some seconds of reading. */
const BUDGET: DiffBudget = { files: 2_000, bytes: 20 * 1024 * 1024 }
const MAX_REMEMBERED = 10_000
/** Requests that wait to count, and how long. */
const MAX_WAITING = 50
const MAX_WAIT_MS = 10_000

/** By id of the commit, which follows from its content; those counted first are forgotten first. `undefined`: too much. */
const remembered = new Map<string, DiffStats | undefined>()
/** One request of a process counts at a time, so that the others, which count nothing, are answered between two files. */
const lines = new WeakMap<Core['db'], WaitingLine>()

/**
 * Of each commit, in the same order: lines added and removed. `undefined` where that is more than one request may count; what
 * has been counted is remembered, so that the next request comes further.
 */
export async function statsOf(
  core: Core,
  repository: GitRepository,
  oids: readonly string[],
): Promise<(DiffStats | undefined)[]> {
  if (!oids.every((oid) => remembered.has(oid))) {
    await countingAlone(core, async (budget) => {
      for (const oid of oids) if (!remembered.has(oid)) await count(repository, oid, budget)
    })
  }
  return oids.map((oid) => remembered.get(oid))
}

/** With what one request may read. `undefined`: its turn did not come. */
export async function countingAlone<Result>(
  { db, clock }: Core,
  work: (budget: DiffBudget) => Promise<Result>,
): Promise<Result | undefined> {
  const line = lines.get(db) ?? new WaitingLine(clock, MAX_WAITING)
  lines.set(db, line)
  if (!(await line.enter(MAX_WAIT_MS))) return undefined
  try {
    return await work({ ...BUDGET })
  } finally {
    line.leave()
  }
}

async function count(repository: GitRepository, oid: string, budget: DiffBudget): Promise<void> {
  const isWhole = budget.files === BUDGET.files
  if (budget.files <= 0 || budget.bytes <= 0) return
  const stats = await countStats(repository, oid, budget)
  if (stats === undefined && !isWhole) return
  remembered.set(oid, stats)
  if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
}
