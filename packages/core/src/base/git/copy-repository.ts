import { constants } from 'node:fs'
import { copyFile, cp, mkdir, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { listReferences } from './git-reference.ts'
import { GitRepository } from './git-repository.ts'
import type { RepositoryContext } from './repository-context.ts'
import { findGitdir, hasFiles } from './repository-directory.ts'
import { withRepositoryLock } from './repository-lock.ts'
import { undoChange } from './undo-change.ts'

/** The entries of a repository's directory that no commit needs: unfinished files, and scripts, which are never run. */
const leftOut = new Set(['tmp', 'hooks'])
const OBJECTS = 'objects'

/**
 * Copies a repository into the new directory `to` while it is in use. The references are those of one moment between two changes.
 *
 * @returns false if the repository was removed
 * @throws DomainError `unavailable` if its files are missing
 */
export async function copyRepository(context: RepositoryContext, repository: string, to: string): Promise<boolean> {
  // Only the references need the lock, so that a large repository can be changed while its objects are copied.
  const gitdir = await withRepositoryLock(context, repository, async (token) => {
    await undoChange(context, { name: repository, token })
    const from = await findGitdir(context, repository)
    if (from === undefined || !(await hasFiles(context, repository, from))) return undefined
    const isCopied = (path: string) => path === from || !(leftOut.has(basename(path)) || basename(path) === OBJECTS)
    await cp(from, to, { recursive: true, filter: isCopied, mode: constants.COPYFILE_FICLONE })
    return from
  })
  return gitdir !== undefined && (await copyObjects(join(gitdir, OBJECTS), join(to, OBJECTS)))
}

/** Copies the objects. Those that vanish belong to a change that has failed. */
async function copyObjects(from: string, to: string): Promise<boolean> {
  const entries = await readdir(from, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (entries === undefined) return false
  await mkdir(to, { recursive: true })
  for (const entry of entries) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) await copyObjects(source, target)
    else if (entry.isFile())
      await copyFile(source, target, constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
  }
  return true
}

/** Returns the branches and tags of a repository that refer to an object that cannot be read: `heads/main`. */
export async function findBrokenReferences(gitdir: string): Promise<string[]> {
  const repository = new GitRepository(gitdir)
  const broken: string[] = []
  for (const kind of ['heads', 'tags'] as const) {
    for (const { name, oid } of await listReferences(repository, kind)) {
      if (!(await isReadable(repository, oid))) broken.push(`${kind}/${name}`)
    }
  }
  return broken
}

/** Returns whether an object and, if it is a commit, its tree can be read. */
async function isReadable(repository: GitRepository, oid: string): Promise<boolean> {
  const commit = await repository.commitNamedBy(oid)
  if (commit === undefined) return (await repository.find(oid)) !== undefined
  const { tree } = await repository.commitHeader(commit)
  return (await repository.find(tree)) !== undefined
}
