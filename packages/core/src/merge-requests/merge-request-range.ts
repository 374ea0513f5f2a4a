import type { GitRepository } from '../repositories/git-repository.ts'
import type { HistoryHeader } from '../repositories/history.ts'

/** What a branch has that another lacks. */
export interface CommitRange {
  /** Of the branch; newest first. */
  readonly commits: readonly HistoryHeader[]
  /** The last commit that both have; `undefined`: they have nothing in common. */
  readonly base: HistoryHeader | undefined
  readonly head: HistoryHeader
  /** The tip of the other branch. */
  readonly startSha: string
}

/** What may be done still: commits that are read, and steps, of which each range takes one for each of its commits. */
export interface RangeBudget {
  commits: number
  steps: number
}

const FROM_HEAD = 1
const FROM_START = 2
const SHARED = FROM_HEAD | FROM_START

/**
 * Both histories at once, newest first by the committer's time, until nothing that is left can belong to the branch alone.
 *
 * @param read remembers the commits of the repository
 * @returns `undefined` when the budget does not suffice
 */
export async function rangeOf(
  read: ReturnType<typeof rememberedCommits>,
  { headSha, startSha }: { readonly headSha: string; readonly startSha: string },
): Promise<CommitRange | undefined> {
  const found = new Map<string, { readonly commit: HistoryHeader; from: number }>()
  const waiting: HistoryHeader[] = []
  /** True: within the budget. */
  const reach = async (oid: string, from: number): Promise<boolean> => {
    const known = found.get(oid)
    if (known !== undefined && (known.from | from) === known.from) return true
    const commit = known?.commit ?? (await read(oid))
    if (commit === undefined) return false
    found.set(oid, { commit, from: (known?.from ?? 0) | from })
    if (waiting.includes(commit)) return true
    const at = waiting.findLastIndex((other) => other.committer.atSeconds >= commit.committer.atSeconds)
    waiting.splice(at + 1, 0, commit)
    return true
  }
  const fromOf = ({ oid }: HistoryHeader) => found.get(oid)!.from
  if (!(await reach(headSha, FROM_HEAD)) || !(await reach(startSha, FROM_START))) return undefined
  const passed: HistoryHeader[] = []
  while (waiting.some((commit) => fromOf(commit) === FROM_HEAD)) {
    const commit = waiting.shift()!
    passed.push(commit)
    for (const parent of commit.parents) if (!(await reach(parent, fromOf(commit)))) return undefined
  }
  return {
    commits: [...new Set(passed)].filter((commit) => fromOf(commit) === FROM_HEAD),
    base: [...passed, ...waiting].find((commit) => fromOf(commit) === SHARED),
    head: found.get(headSha)!.commit,
    startSha,
  }
}

/** Reads each commit once, and none beyond the budget; what is known already costs a step too. */
export function rememberedCommits(repository: Pick<GitRepository, 'commitHeader'>, budget: RangeBudget) {
  const known = new Map<string, HistoryHeader>()
  return async (oid: string): Promise<HistoryHeader | undefined> => {
    if (budget.steps <= 0) return undefined
    budget.steps -= 1
    const commit = known.get(oid)
    if (commit !== undefined) return commit
    if (budget.commits <= 0) return undefined
    budget.commits -= 1
    const fresh = { oid, ...(await repository.commitHeader(oid)) }
    known.set(oid, fresh)
    return fresh
  }
}
