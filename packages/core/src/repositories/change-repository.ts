import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Core } from '../kit/context.ts'
import { DomainError } from '../kit/domain-error.ts'
import { DurableFiles } from './git-files.ts'
import { createRepository, GitRepository, repositoryExists, WritableRepository } from './git-repository.ts'
import { releaseLock, tryTakeLock } from './repository-lock-store.ts'

/** Those that wait in one process for one repository; the next one is told to come later. */
const MAX_WAITING = 200
const MAX_WAIT_MS = 30_000
const POLL_MS = 20

export const DEFAULT_BRANCH = 'main'

/** Below `repositoriesDir`; `name` is `5` for a project's, or a path of ours like `snippets/31`. */
export const gitdirOf = ({ settings }: Core, name: string): string => join(settings.repositoriesDir, `${name}.git`)

/** For reading; `undefined`: nothing has been written to it yet. */
export async function findRepository(core: Core, name: string): Promise<GitRepository | undefined> {
  const gitdir = gitdirOf(core, name)
  return (await repositoryExists(gitdir)) ? new GitRepository(gitdir) : undefined
}

/**
 * Runs `change` as the only writer of the repository among all processes of this machine, creating the repository if need
 * be. Not inside a transaction: it takes the time of many files.
 *
 * @throws DomainError `conflict` when its turn does not come within 30 s
 */
export function changeRepository<Result>(
  core: Core,
  name: string,
  change: (repository: WritableRepository) => Promise<Result>,
): Promise<Result> {
  return exclusively(core, name, async () => {
    const gitdir = gitdirOf(core, name)
    if (!(await repositoryExists(gitdir))) await createRepository(gitdir, DEFAULT_BRANCH)
    return change(new WritableRepository(gitdir, await DurableFiles.open(gitdir)))
  })
}

/** With everything in it; nothing happens where there is none. */
export function removeRepository(core: Core, name: string): Promise<void> {
  return exclusively(core, name, () => rm(gitdirOf(core, name), { recursive: true, force: true }))
}

interface Line {
  last: Promise<unknown>
  waiting: number
}

/** Per core, by repository: in one process they queue in order and ask the database one at a time. */
const lines = new WeakMap<Core['db'], Map<string, Line>>()

async function exclusively<Result>(core: Core, name: string, work: () => Promise<Result>): Promise<Result> {
  const ofCore = lines.get(core.db) ?? new Map<string, Line>()
  lines.set(core.db, ofCore)
  const line = ofCore.get(name) ?? { last: Promise.resolve(), waiting: 0 }
  ofCore.set(name, line)
  if (line.waiting >= MAX_WAITING) throw isTaken()
  line.waiting += 1
  const result = line.last.then(() => withLock(core, name, work))
  line.last = result.catch(() => {})
  try {
    return await result
  } finally {
    line.waiting -= 1
    if (line.waiting === 0) ofCore.delete(name)
  }
}

async function withLock<Result>(core: Core, name: string, work: () => Promise<Result>): Promise<Result> {
  const token = await takeLock(core, name)
  try {
    return await work()
  } finally {
    await releaseLock(core, token)
  }
}

async function takeLock(core: Core, name: string): Promise<string> {
  for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += POLL_MS) {
    const token = await tryTakeLock(core, name)
    if (token !== undefined) return token
    await core.clock.sleep(POLL_MS)
  }
  throw isTaken()
}

const isTaken = () => new DomainError({ code: 'conflict', reason: 'Resource lock' })
