import { join } from 'node:path'
import { notFound } from '../kit/domain-error.ts'
import { DurableFiles } from './git-files.ts'
import { createRepository, GitRepository, repositoryExists, WritableRepository } from './git-repository.ts'
import { isRemoved } from './removed-repository-store.ts'
import type { RepositoryContext } from './repository-context.ts'
import { withRepositoryLock } from './repository-lock.ts'
import type { RepositoryStorage } from './repository-storage.ts'

export const DEFAULT_BRANCH = 'main'

/** Returns the directory of a repository. A name is a path of one or more segments: `5`, `snippets/31`. */
export const gitdirOf = ({ settings }: Pick<RepositoryContext, 'settings'>, name: string): string =>
  join(settings.repositoriesDir, `${name}.git`)

/** Opens a repository for reading, or returns `undefined` if nothing has been written to it yet. */
export async function findRepository(
  context: Pick<RepositoryContext, 'settings'>,
  name: string,
): Promise<GitRepository | undefined> {
  const gitdir = gitdirOf(context, name)
  return (await repositoryExists(gitdir)) ? new GitRepository(gitdir) : undefined
}

/**
 * Runs `change` as the only writer of the repository among all processes, and creates the repository if necessary. Must
 * not run inside a transaction, because it writes many files, which takes long.
 *
 * @param openStorage opens the storage limit of the repository, after its directory was created
 * @throws DomainError `conflict` if its turn does not come within 30 s; `not_found` if the repository was removed
 *   meanwhile; `storage_full` if the change exceeds the storage limit, in which case nothing of it is kept
 */
export function changeRepository<Result>(
  context: RepositoryContext,
  name: string,
  openStorage: (gitdir: string) => Promise<RepositoryStorage>,
  change: (repository: WritableRepository) => Promise<Result>,
): Promise<Result> {
  return withRepositoryLock(context, name, async (token) => {
    if (await isRemoved(context, name)) throw notFound()
    const gitdir = gitdirOf(context, name)
    if (!(await repositoryExists(gitdir))) await createRepository(gitdir, DEFAULT_BRANCH, token)
    const files = await DurableFiles.open(gitdir, token)
    const storage = await openStorage(gitdir)
    try {
      return await change(new WritableRepository(gitdir, files, storage))
    } catch (error) {
      await files.discardObjects()
      throw error
    }
  })
}
