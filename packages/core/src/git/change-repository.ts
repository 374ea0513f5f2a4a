import { join } from 'node:path'
import { notFound } from '../kit/domain-error.ts'
import type { Core } from '../operations/context.ts'
import { openRepositoryStorage } from '../repositories/repository-storage.ts'
import { DurableFiles } from './git-files.ts'
import { createRepository, GitRepository, repositoryExists, WritableRepository } from './git-repository.ts'
import { isRemoved } from './removed-repository-store.ts'
import { withRepositoryLock } from './repository-lock.ts'

export const DEFAULT_BRANCH = 'main'

/** Returns the directory of a repository. `name` is `5` for that of project 5, or a path like `snippets/31`. */
export const gitdirOf = ({ settings }: Core, name: string): string => join(settings.repositoriesDir, `${name}.git`)

/** Opens a repository for reading, or returns `undefined` if nothing has been written to it yet. */
export async function findRepository(core: Core, name: string): Promise<GitRepository | undefined> {
  const gitdir = gitdirOf(core, name)
  return (await repositoryExists(gitdir)) ? new GitRepository(gitdir) : undefined
}

/**
 * Runs `change` as the only writer of the repository among all processes, and creates the repository if necessary. Must
 * not run inside a transaction, because it writes many files, which takes long.
 *
 * @throws DomainError `conflict` if its turn does not come within 30 s; `not_found` if the repository was removed
 *   meanwhile; `storage_full` if the change exceeds the project's storage limit, in which case nothing of it is kept
 */
export function changeRepository<Result>(
  core: Core,
  name: string,
  change: (repository: WritableRepository) => Promise<Result>,
): Promise<Result> {
  return withRepositoryLock(core, name, async (token) => {
    if (await isRemoved(core, name)) throw notFound()
    const gitdir = gitdirOf(core, name)
    if (!(await repositoryExists(gitdir))) await createRepository(gitdir, DEFAULT_BRANCH, token)
    const files = await DurableFiles.open(gitdir, token)
    const storage = await openRepositoryStorage(core, name, gitdir)
    try {
      return await change(new WritableRepository(gitdir, files, storage))
    } catch (error) {
      await files.discardObjects()
      throw error
    }
  })
}
