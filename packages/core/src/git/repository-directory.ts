import { join } from 'node:path'
import type { ReadLimit } from '@penstock/db'
import { GitRepository, repositoryExists } from './git-repository.ts'
import type { RepositoryContext } from './repository-context.ts'
import { type RepositoryKey, repositoryNameOf } from './repository-key.ts'

/** Returns the directory of a repository by its name. */
export const gitdirOf = ({ settings }: Pick<RepositoryContext, 'settings'>, name: string): string =>
  join(settings.repositoriesDir, `${name}.git`)

/** Opens a repository for reading, or returns `undefined` if nothing has been written to it yet. */
export async function findRepository(
  context: Pick<RepositoryContext, 'settings'> & { readonly readLimit?: ReadLimit },
  key: RepositoryKey,
): Promise<GitRepository | undefined> {
  const gitdir = gitdirOf(context, repositoryNameOf(key))
  return (await repositoryExists(gitdir)) ? new GitRepository(gitdir, context.readLimit) : undefined
}
