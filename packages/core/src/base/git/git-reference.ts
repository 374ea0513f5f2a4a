import { readdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRepository, WritableRepository } from './git-repository.ts'
import { packedReferences } from './packed-references.ts'
import { isRefName } from './repository-path.ts'

export type RefKind = 'heads' | 'tags'

export interface GitReference {
  /** The name without `refs/heads/` or `refs/tags/`. */
  readonly name: string
  /** The id of a commit, or of the tag object of an annotated tag. */
  readonly oid: string
}

/** Returns the object that a branch or tag refers to, or `undefined` if it does not exist. */
export async function findReference(
  { gitdir }: GitRepository,
  kind: RefKind,
  name: string,
): Promise<string | undefined> {
  // The name becomes a path below, so an untrusted one must be checked.
  if (!isRefName(name)) return undefined
  return (await looseOid(gitdir, kind, name)) ?? (await packedReferences(gitdir)).get(`refs/${kind}/${name}`)
}

/** Lists references by name, in the order of code units. */
export async function listReferences({ gitdir }: GitRepository, kind: RefKind): Promise<GitReference[]> {
  const prefix = `refs/${kind}/`
  const packed = [...(await packedReferences(gitdir))].filter(([ref]) => ref.startsWith(prefix))
  const found = new Map(packed.map(([ref, oid]) => [ref.slice(prefix.length), oid]))
  for (const name of await looseNames(join(gitdir, 'refs', kind))) {
    const oid = await looseOid(gitdir, kind, name)
    if (oid !== undefined) found.set(name, oid)
  }
  return [...found]
    .filter(([name]) => isRefName(name))
    .map(([name, oid]) => ({ name, oid }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the branch of the repository's `HEAD`. */
export async function headBranch({ gitdir }: GitRepository): Promise<string | undefined> {
  return /^ref: refs\/heads\/([^\n]+)\n?$/.exec(await readFile(join(gitdir, 'HEAD'), 'utf8'))?.[1]
}

/** Plans to point `HEAD` to a branch. */
export async function setHeadBranch(repository: WritableRepository, name: string): Promise<void> {
  const former = await headBranch(repository)
  if (former === name) return
  const from = former !== undefined && { from: `ref: refs/heads/${former}` }
  repository.plan({ file: 'HEAD', ...from, to: `ref: refs/heads/${name}` })
}

export type MoveOutcome = 'planned' | 'not_as_expected' | 'name_in_use'

/**
 * Plans to move a branch or tag from `from` (`undefined`: it does not exist) to `to` (`undefined`: it is deleted).
 * `name_in_use` is returned for the name `a` if `a/b` exists and vice versa, because Git cannot store both.
 */
export async function moveReference(
  repository: WritableRepository,
  kind: RefKind,
  { name, from, to }: { name: string; from: string | undefined; to: string | undefined },
): Promise<MoveOutcome> {
  if ((await findReference(repository, kind, name)) !== from) return 'not_as_expected'
  if (to !== undefined && from === undefined) {
    const others = await listReferences(repository, kind)
    if (others.some((other) => other.name.startsWith(`${name}/`) || name.startsWith(`${other.name}/`)))
      return 'name_in_use'
    await removeEmptyDirectories(join(repository.gitdir, 'refs', kind, name))
  }
  repository.plan({
    file: `refs/${kind}/${name}`,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  })
  return 'planned'
}

/** Removes empty directories that a deleted `a/b` left behind, so that `a` can be created. */
async function removeEmptyDirectories(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(ignoreMissing)
  if (entries === undefined) return
  for (const entry of entries) if (entry.isDirectory()) await removeEmptyDirectories(join(directory, entry.name))
  await rmdir(directory)
}

async function looseOid(gitdir: string, kind: RefKind, name: string): Promise<string | undefined> {
  const text = await readFile(join(gitdir, 'refs', kind, name), 'utf8').catch(ignoreMissing)
  return text === undefined ? undefined : /^([0-9a-f]{40})\n?$/.exec(text)?.[1]
}

async function looseNames(directory: string): Promise<string[]> {
  const entries = (await readdir(directory, { recursive: true, withFileTypes: true }).catch(ignoreMissing)) ?? []
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
}

/**
 * Ignores errors that mean that the reference does not exist: no such file, or a file and a directory in each other's
 * place.
 */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR' && error.code !== 'EISDIR') throw error
}
