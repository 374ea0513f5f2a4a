import { join } from 'node:path'
import type { ReadLimit } from '@penstock/db'
import { DomainError } from '../kit/domain-error.ts'
import { GitRepository, repositoryExists } from './git-repository.ts'
import { isRemoved } from './removed-repository-store.ts'
import type { RepositoryContext } from './repository-context.ts'
import { findDirectory, hasDirectory } from './repository-directory-store.ts'
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

/**
 * Opens a repository for reading, or returns `undefined` if nothing has been written to it yet.
 *
 * @throws DomainError `unavailable` if its files are missing: it must not look like an empty repository
 */
export async function findRepository(
  context: DirectoryContext & { readonly readLimit?: ReadLimit },
  key: RepositoryKey,
): Promise<GitRepository | undefined> {
  const name = repositoryNameOf(key)
  const gitdir = await findGitdir(context, name)
  if (gitdir === undefined || !(await hasFiles(context, name, gitdir))) return undefined
  return new GitRepository(gitdir, context.readLimit)
}

/** The time after which clients should try again: files can be missing because their file system is not mounted. */
const RETRY_AFTER_SECONDS = 60

/**
 * Returns whether the files of a repository that a row names are there; false if it was removed since the row was read.
 *
 * @throws DomainError `unavailable` if they are missing
 */
export async function hasFiles(context: DirectoryContext, name: string, gitdir: string): Promise<boolean> {
  if (await repositoryExists(gitdir)) return true
  // The files of a removed repository are deleted before its row.
  if ((await isRemoved(context, name)) || !(await hasDirectory(context, name))) return false
  const cause = new Error(
    `The files of the repository ${name} are missing: restore ${gitdir}; penstock doctor lists all`,
  )
  throw new DomainError({ code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause })
}
