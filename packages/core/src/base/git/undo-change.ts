import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findIntentDirectory, listUnfinished, takeIntent } from './change-intent-store.ts'
import { DurableFiles, syncToDisk } from './git-files.ts'
import { repositoryExists, unfinishedDir } from './git-repository.ts'
import { revertMove } from './reference-move.ts'
import type { RepositoryContext } from './repository-context.ts'
import { gitdirPath } from './repository-directory.ts'
import { withRepositoryLock } from './repository-lock.ts'
import { deleteRepositoryBytes } from './repository-size-store.ts'

const BATCH_SIZE = 100
/** The time to wait for a running change, before the repository is left to the next sweep. */
const WAIT_MS = 2_000

interface UnfinishedChange {
  /** The name of the repository. */
  readonly name: string
  readonly token: string
  readonly files?: DurableFiles
  /** Whether only a change under the same token is undone. Default: that of any former holder of the lock. */
  readonly isOwn?: boolean
}

/**
 * Undoes an unfinished change of a repository: references return to where they were, and a repository that the change
 * has created is removed. Only for the holder of the lock. A holder that may have lost the lock can undo its own change,
 * because the next holder would have undone it already.
 *
 * @returns whether there was an unfinished change
 */
export async function undoChange(
  context: RepositoryContext,
  { name, token, files, isOwn = false }: UnfinishedChange,
): Promise<boolean> {
  if ((await findIntentDirectory(context, name)) === undefined) return false
  // If the process ends in between, the row remains, and the next holder of the lock starts again.
  return context.db.write(async (db) => {
    const intent = await takeIntent(db, name, isOwn ? token : undefined)
    if (intent === undefined) return false
    const gitdir = gitdirPath(context, intent.directory)
    const exists = await repositoryExists(gitdir)
    if (intent.creates) {
      await deleteRepositoryBytes(db, name)
      // Without a directory, one may have been left that was being prepared.
      if (exists) await discardRepository(gitdir, token)
      else await rm(unfinishedDir(gitdir), { recursive: true, force: true, maxRetries: 3 })
    } else if (exists) {
      const place = { gitdir, files: files ?? (await DurableFiles.open(gitdir, token)) }
      for (const move of intent.moves.toReversed()) await revertMove(place, move)
      await place.files.flush()
    }
    return true
  })
}

/**
 * Undoes the unfinished changes of processes that have ended. A repository that is being changed is left to the next
 * sweep.
 */
export async function undoUnfinishedChanges(context: RepositoryContext): Promise<void> {
  const failures: unknown[] = []
  for (let last = ''; ; ) {
    const names = await listUnfinished(context, last, BATCH_SIZE)
    if (names.length === 0) break
    for (const name of names) {
      const undo = (token: string) => undoChange(context, { name, token })
      await withRepositoryLock(context, name, undo, { waitMs: WAIT_MS }).catch((error) => failures.push(error))
    }
    last = names.at(-1)!
  }
  if (failures.length === 0) return
  const message = `${failures.length} unfinished changes of repositories could not be undone. The next sweep tries again.`
  throw new Error(message, { cause: failures[0] })
}

/** Moves a repository away, so that readers no longer find it, and then deletes its files. */
async function discardRepository(gitdir: string, token: string): Promise<void> {
  const unfinished = unfinishedDir(gitdir)
  await rm(unfinished, { recursive: true, force: true, maxRetries: 3 })
  await mkdir(unfinished, { recursive: true })
  await rename(gitdir, join(unfinished, token))
  await rm(unfinished, { recursive: true, force: true, maxRetries: 3 })
  await syncToDisk(dirname(gitdir))
}
