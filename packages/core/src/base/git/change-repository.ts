import type { Transaction } from 'kysely'
import { notFound } from '../kit/domain-error.ts'
import type { CoreTables } from '../kit/tables.ts'
import { completeIntent, recordIntent } from './change-intent-store.ts'
import { allDone, DurableFiles } from './git-files.ts'
import { createRepository, WritableRepository } from './git-repository.ts'
import { prepareMove } from './reference-move.ts'
import { isRemoved } from './removed-repository-store.ts'
import type { RepositoryContext } from './repository-context.ts'
import { gitdirPath, hasFiles, newDirectory } from './repository-directory.ts'
import { findDirectory, insertDirectory, rememberDirectory } from './repository-directory-store.ts'
import { type RepositoryKey, repositoryNameOf } from './repository-key.ts'
import { withRepositoryLock } from './repository-lock.ts'
import { releaseLock } from './repository-lock-store.ts'
import type { RepositoryStorage } from './repository-storage.ts'
import { undoChange } from './undo-change.ts'

export const DEFAULT_BRANCH = 'main'

/** The transaction that stores the rows of a change. */
interface ChangeTx {
  readonly db: Transaction<CoreTables>
}

/** The transactions and the storage limit of a change to a repository. */
interface ChangeSettings<Tx extends ChangeTx> {
  /** Runs `work` in a transaction. */
  write<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** Returns the storage limit of the repository for this change. Called once its directory exists; a new one is empty. */
  openStorage(gitdir: string, isNew: boolean): Promise<RepositoryStorage>
}

/**
 * Changes a repository as its only writer among all processes, and creates it if necessary. Must not run inside a
 * transaction, because it writes many files, which takes long.
 *
 * `change` writes objects and plans moves of references, and returns the function that stores the rows of the change.
 * Rows and moves become effective together: if one of them fails, or the process ends in between, neither remains.
 *
 * @throws DomainError `conflict` if its turn does not come within 30 s; `not_found` if the repository was removed
 *   before its turn; `unavailable` if its files are missing; `storage_full` if the change exceeds the storage limit; the errors of
 *   `change` and of its function
 * @see docs/contributing/decisions/0015-changes-of-repositories.md
 */
export function changeRepository<Tx extends ChangeTx, Result>(
  context: RepositoryContext,
  key: RepositoryKey,
  { write, openStorage }: ChangeSettings<Tx>,
  change: (repository: WritableRepository) => Promise<(tx: Tx) => Promise<Result>>,
): Promise<Result> {
  const name = repositoryNameOf(key)
  return withRepositoryLock(context, name, async (token, lock) => {
    if (await isRemoved(context, name)) throw notFound()
    await undoChange(context, { name, token })
    const stored = await findDirectory(context, name)
    const isNew = stored === undefined
    const directory = stored ?? newDirectory(context, name)
    const gitdir = gitdirPath(context, directory)
    if (isNew) {
      await recordIntent(context, name, token, { creates: true, directory, moves: [] })
      await createRepository(gitdir, DEFAULT_BRANCH, token)
    } else if (!(await hasFiles(context, name, gitdir))) {
      throw notFound()
    }
    const files = await DurableFiles.open(gitdir, token)
    let isRecorded = isNew
    try {
      const repository = new WritableRepository(gitdir, files, await openStorage(gitdir, isNew))
      const storeRows = await change(repository)
      if (repository.moves.length === 0) {
        await undoChange(context, { name, token, files })
        return await write(storeRows)
      }
      const intent = { creates: isNew, directory, moves: repository.moves }
      const record = async () => {
        await recordIntent(context, name, token, intent)
        isRecorded = true
      }
      const moves: (() => Promise<void>)[] = []
      // Their order does not matter, as all of this has no effect before the references move.
      await allDone([files.placeObjects(), prepareMoves(repository, moves), record()])
      const result = await write(async (tx) => {
        const stored = await storeRows(tx)
        await repository.chargeStorage(tx.db)
        if (isNew) await insertDirectory(tx.db, { repository: name, directory })
        await completeIntent(tx.db, name, token)
        await releaseLock(tx.db, token)
        // The moves come last, so that failing rows need no undoing. They only rename files.
        for (const move of moves) await move()
        await files.flush()
        return stored
      })
      lock.isReleased = true
      rememberDirectory(context.db, { repository: name, directory })
      files.keepObjects()
      return result
    } catch (error) {
      // If the intent is gone, the rows are stored although the database reported an error: the objects are in use, and
      // the repository may be changed by the next holder of the lock already. If undoing fails, the next holder does it.
      const own = { name, token, files, isOwn: true }
      const isUndone = !isRecorded || (await undoChange(context, own).catch(() => false))
      if (isUndone) await files.discardObjects()
      throw error
    }
  })
}

/** Prepares the files of the planned moves, and adds the functions that make the moves to `moves`. */
async function prepareMoves(repository: WritableRepository, moves: (() => Promise<void>)[]): Promise<void> {
  for (const move of repository.moves) moves.push(await prepareMove(repository, move))
}
