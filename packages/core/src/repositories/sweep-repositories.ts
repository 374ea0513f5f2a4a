import { rm } from 'node:fs/promises'
import type { Core, Tx } from '../kit/context.ts'
import { gitdirOf } from './change-repository.ts'
import { unfinishedOf } from './git-repository.ts'
import { insertRemovedRepositories, setSwept, unsweptRepositories } from './removed-repository-store.ts'
import { withRepositoryLock } from './repository-lock.ts'

const AT_ONCE = 100
/** For a change that is under way; then its turn comes at the next sweep. */
const WAIT_MS = 2_000
/** Longer than any change that was asked for before the removal takes. */
const REMEMBERED_MS = 24 * 60 * 60 * 1_000

/** Its files go when the transaction has committed; when the process ends before that, at the next start. */
export async function removeRepositories(
  tx: Pick<Tx, 'db' | 'nowMs' | 'afterCommit'>,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await insertRemovedRepositories(tx, names)
  tx.afterCommit(sweepRepositories)
}

/**
 * Removes the files of repositories that have been removed. One that cannot be removed now is left for the next time, and
 * holds up no other.
 *
 * @throws when any was left, after all have been tried; the cause is what stopped the first
 */
export async function sweepRepositories(core: Core): Promise<void> {
  const failures: unknown[] = []
  for (let last = ''; ; ) {
    const names = await unsweptRepositories(core, last, AT_ONCE)
    if (names.length === 0) break
    for (const name of names) await sweep(core, name).catch((error: unknown) => failures.push(error))
    last = names.at(-1)!
  }
  if (failures.length === 0) return
  throw new Error(`Files of ${failures.length} removed repositories are still there.`, { cause: failures[0] })
}

function sweep(core: Core, name: string): Promise<void> {
  const remove = async () => {
    const gitdir = gitdirOf(core, name)
    for (const directory of [unfinishedOf(gitdir), gitdir])
      await rm(directory, { recursive: true, force: true, maxRetries: 3 })
    await setSwept(core, name, core.clock.nowMs() - REMEMBERED_MS)
  }
  return withRepositoryLock(core, name, remove, { waitMs: WAIT_MS })
}
