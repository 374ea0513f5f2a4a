import {
  type Actor,
  type Core,
  createCommit,
  createTag,
  DomainError,
  getTag,
  listCommits,
  perform,
} from '@penstock/core'
import { findOrCreate } from './find-or-create.ts'
import { type Run, runs } from './runs.ts'

/** A commit for which sample pipelines ran. */
export interface SampleCommit {
  readonly sha: string
  readonly title: string
  /** `undefined` for the first commit of a repository. */
  readonly parentSha: string | undefined
  readonly atMs: number
}

/** The commits of each branch and tag, newest first, by the key of `historyKey`. */
export type SampleHistories = ReadonlyMap<string, readonly SampleCommit[]>

export const historyKey = (project: string, ref: string): string => `${project}\n${ref}`

export const HOUR_MS = 3_600_000
/** The time between a commit and the pipeline that it starts. */
const PUSH_MS = 40_000

/**
 * Returns the core with `nowMs` as its current time. This changes only timestamps, because locks and waits use the
 * monotonic clock.
 */
export const coreAt = (core: Core, nowMs: number): Core => {
  const { clock } = core
  return {
    ...core,
    clock: {
      nowMs: () => nowMs,
      nowNs: () => clock.nowNs(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
  }
}

/**
 * Creates the commits, branches and tags for which the sample pipelines run. Each has the time at which it would have
 * been pushed.
 */
export async function addCommits(
  core: Core,
  actors: ReadonlyMap<string, NonNullable<Actor>>,
  nowMs: number,
): Promise<SampleHistories> {
  const histories = new Map<string, readonly SampleCommit[]>()
  for (const run of runs) {
    const { project, by, title, isTag, ref = 'main' } = run
    const branch = isTag ? 'main' : ref
    const history =
      histories.get(historyKey(project, branch)) ?? (await readHistory(core, actors.get(by), project, branch))
    if (!history.some((commit) => commit.title === title)) {
      const pushed = coreAt(core, nowMs - Math.round(run.hoursAgo * HOUR_MS) - PUSH_MS)
      await perform(pushed, actors.get(by), createCommit, commitOf(run, branch, history))
    }
    const after = await readHistory(core, actors.get(by), project, branch)
    histories.set(historyKey(project, branch), after)
    if (!isTag) continue
    histories.set(historyKey(project, ref), after)
    await findOrCreate(
      () => perform(core, actors.get(by), getTag, { project, tagName: ref }),
      () => perform(core, actors.get(by), createTag, { project, tagName: ref, ref: branch }),
    )
  }
  return histories
}

/** Returns a commit that adds a file of its own. The first commit of a branch starts from `main`. */
function commitOf({ project, title }: Run, branch: string, history: readonly SampleCommit[]) {
  const filePath = `changes/${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.md`
  return {
    project,
    branch,
    ...(history.length === 0 && { startBranch: 'main' }),
    commitMessage: title,
    actions: [{ action: 'create', filePath, content: `${title}\n` }],
  }
}

async function readHistory(core: Core, actor: Actor, project: string, refName: string): Promise<SampleCommit[]> {
  const { items } = await perform(core, actor, listCommits, { project, refName, perPage: 100 }).catch((error) => {
    if (error instanceof DomainError && error.failure.code === 'not_found') return { items: [] }
    throw error
  })
  return items.map(({ sha, title, parentShas, committer }) => ({
    sha,
    title,
    parentSha: parentShas[0],
    atMs: committer.atSeconds * 1_000,
  }))
}
