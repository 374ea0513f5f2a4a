import { join } from 'node:path'
import type { ReadLimit } from '@penstock/db'
import { GitRepository, repositoryExists } from './git-repository.ts'
import type { RepositoryContext } from './repository-context.ts'
import { findDirectory } from './repository-directory-store.ts'
import { type RepositoryKey, repositoryNameOf } from './repository-key.ts'

type DirectoryContext = Pick<RepositoryContext, 'settings' | 'db'>

/** Returns the path of a directory that a row names. */
export const gitdirPath = ({ settings }: Pick<DirectoryContext, 'settings'>, directory: string): string =>
  join(settings.repositoriesDir, `${directory}.git`)

/** Returns a directory for a new repository, which no other repository has had: `5-0f6d…`, `snippets/31-9c2e…`. */
export const newDirectory = ({ randomBytes }: Pick<RepositoryContext, 'randomBytes'>, repository: string): string =>
  `${repository}-${Buffer.from(randomBytes(16)).toString('hex')}`

/** Returns the path of a repository's directory, or `undefined` if nothing has been written to it yet. */
export async function findGitdir(context: DirectoryContext, repository: string): Promise<string | undefined> {
  const directory = await findDirectory(context, repository)
  return directory === undefined ? undefined : gitdirPath(context, directory)
}

/** Opens a repository for reading, or returns `undefined` if nothing has been written to it yet. */
export async function findRepository(
  context: DirectoryContext & { readonly readLimit?: ReadLimit },
  key: RepositoryKey,
): Promise<GitRepository | undefined> {
  const gitdir = await findGitdir(context, repositoryNameOf(key))
  if (gitdir === undefined || !(await repositoryExists(gitdir))) return undefined
  return new GitRepository(gitdir, context.readLimit)
}
