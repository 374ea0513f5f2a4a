import type { GitRepository } from './git-repository.ts'
import type { HistoryHeader } from './history.ts'
import { NewestFirst } from './newest-first.ts'

/** The commits of a branch that another branch does not have. */
export interface CommitRange {
  /** The commits of the branch, newest first. */
  readonly commits: readonly HistoryHeader[]
  /** The newest commit that both branches have, or `undefined` if they have no common history. */
  readonly base: HistoryHeader | undefined
  readonly head: HistoryHeader
  /** The tip of the other branch. */
  readonly startSha: string
}

/**
 * The remaining budget. `commits` limits the commits that are read from the repository, `steps` those that ranges
 * visit.
 */
interface RangeBudget {
  commits: number
  steps: number
}

const FROM_HEAD = 1
const FROM_START = 2
const SHARED = FROM_HEAD | FROM_START

/**
 * Returns the commits that only the head branch has, or `undefined` if the budget is used up. Walks the histories of
 * both branches together, the commit with the latest committer time first. Ends when no queued commit can belong to the
 * head branch alone, and none can still turn out to descend from a commit that seems to belong to it alone.
 *
 * @param otherShas the tips of further branches, which are treated as merged into the other branch
 */
export async function rangeOf(
  read: ReturnType<typeof cachedCommitReader>,
  {
    headSha,
    startSha,
    otherShas = [],
  }: { readonly headSha: string; readonly startSha: string; readonly otherShas?: readonly string[] },
): Promise<CommitRange | undefined> {
  const found = new Map<string, { readonly commit: HistoryHeader; from: number }>()
  const waiting = new NewestFirst<HistoryHeader>(({ committer }) => committer.atSeconds)
  /** The earliest time of the commits that only the head branch seems to have; `undefined` if it has to be computed. */
  let oldestSeconds: number | undefined
  /** Marks a commit as reachable and queues it; returns false if the budget is used up. */
  const visit = async (oid: string, from: number): Promise<boolean> => {
    const known = found.get(oid)
    if (known !== undefined && (known.from | from) === known.from) return true
    const commit = known?.commit ?? (await read(oid))
    if (commit === undefined) return false
    if (known?.from === FROM_HEAD) oldestSeconds = undefined
    found.set(oid, { commit, from: (known?.from ?? 0) | from })
    if (!waiting.items.includes(commit)) waiting.add(commit)
    return true
  }
  const fromOf = ({ oid }: HistoryHeader) => found.get(oid)!.from
  if (!(await visit(headSha, FROM_HEAD))) return undefined
  for (const sha of [startSha, ...otherShas]) if (!(await visit(sha, FROM_START))) return undefined
  const passed: HistoryHeader[] = []
  const oldestOfHead = () =>
    passed.reduce(
      (oldest, commit) => (fromOf(commit) === FROM_HEAD ? Math.min(oldest, commit.committer.atSeconds) : oldest),
      Number.POSITIVE_INFINITY,
    )
  /** Returns whether a queued commit can still change the result, the commits that only the head branch has. */
  const isOpen = (): boolean => {
    if (waiting.items.some((commit) => fromOf(commit) === FROM_HEAD)) return true
    oldestSeconds ??= oldestOfHead()
    return waiting.items.some(({ committer }) => committer.atSeconds >= oldestSeconds!)
  }
  while (isOpen()) {
    const commit = waiting.take()!
    passed.push(commit)
    if (fromOf(commit) === FROM_HEAD) oldestSeconds = undefined
    for (const parent of commit.parents) if (!(await visit(parent, fromOf(commit)))) return undefined
  }
  return {
    commits: [...new Set(passed)].filter((commit) => fromOf(commit) === FROM_HEAD),
    base: [...passed, ...waiting.items].find((commit) => fromOf(commit) === SHARED),
    head: found.get(headSha)!.commit,
    startSha,
  }
}

/** Returns a reader that reads each commit once and stops at the budget. A cached commit costs a step too. */
export function cachedCommitReader(repository: Pick<GitRepository, 'commitHeader'>, budget: RangeBudget) {
  const known = new Map<string, HistoryHeader>()
  return async (oid: string): Promise<HistoryHeader | undefined> => {
    if (budget.steps <= 0) return undefined
    budget.steps -= 1
    const cached = known.get(oid)
    if (cached !== undefined) return cached
    if (budget.commits <= 0) return undefined
    budget.commits -= 1
    const commit = { oid, ...(await repository.commitHeader(oid)) }
    known.set(oid, commit)
    return commit
  }
}
