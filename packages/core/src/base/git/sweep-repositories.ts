import { rm } from 'node:fs/promises'
import type { WriteContext } from '../kit/store-context.ts'
import { findIntentDirectory } from './change-intent-store.ts'
import { unfinishedDir } from './git-repository.ts'
import { insertRemovedRepositories, listUnsweptRepositories, setSwept } from './removed-repository-store.ts'
import type { RepositoryContext } from './repository-context.ts'
import { gitdirPath } from './repository-directory.ts'
import { findDirectory } from './repository-directory-store.ts'
import { type RepositoryKey, repositoryNameOf } from './repository-key.ts'
import { withRepositoryLock } from './repository-lock.ts'

const BATCH_SIZE = 100
/** The time to wait for a running change, before the repository is left to the next sweep. */
const WAIT_MS = 2_000
/**
 * The time to keep rows of removed repositories: longer than any change that was requested before the removal takes.
 */
const RETENTION_MS = 24 * 60 * 60 * 1_000

/** A transaction that runs work after its commit. */
interface RemovalContext extends WriteContext {
  afterCommit(work: (context: RepositoryContext) => Promise<void>): void
}

/**
 * Marks repositories as removed. Their files are removed after the commit, or at the next start if the process ends.
 */
export async function removeRepositories(tx: RemovalContext, keys: readonly RepositoryKey[]): Promise<void> {
  if (keys.length === 0) return
  await insertRemovedRepositories(tx, keys.map(repositoryNameOf))
  tx.afterCommit(sweepRepositories)
}

/**
 * Removes the files of removed repositories. One that cannot be removed now is left for the next sweep, and does not
 * delay the others.
 *
 * @throws an error if files of any repository remain, after all have been tried; the cause is the first failure
 */
export async function sweepRepositories(context: RepositoryContext): Promise<void> {
  const failures: unknown[] = []
  for (let last = ''; ; ) {
    const names = await listUnsweptRepositories(context, last, BATCH_SIZE)
    if (names.length === 0) break
    for (const name of names) await sweep(context, name).catch((error: unknown) => failures.push(error))
    last = names.at(-1)!
  }
  if (failures.length === 0) return
  const message = `The files of ${failures.length} removed repositories could not be deleted. The next sweep tries again.`
  throw new Error(message, { cause: failures[0] })
}

function sweep(context: RepositoryContext, name: string): Promise<void> {
  const remove = async () => {
    for (const directory of [await findDirectory(context, name), await findIntentDirectory(context, name)]) {
      if (directory === undefined) continue
      const gitdir = gitdirPath(context, directory)
      for (const path of [unfinishedDir(gitdir), gitdir])
        await rm(path, { recursive: true, force: true, maxRetries: 3 })
    }
    await setSwept(context, name, context.clock.nowMs() - RETENTION_MS)
  }
  return withRepositoryLock(context, name, remove, { waitMs: WAIT_MS })
}
