import { readdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { referenceSpace } from './file-space.ts'
import type { GitRepository, WritableRepository } from './git-repository.ts'
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
  return (await looseOid(gitdir, kind, name)) ?? (await packedRefs(gitdir)).get(`refs/${kind}/${name}`)
}

/** Lists references by name, in the order of code units. */
export async function listReferences({ gitdir }: GitRepository, kind: RefKind): Promise<GitReference[]> {
  const prefix = `refs/${kind}/`
  const packed = [...(await packedRefs(gitdir))].filter(([ref]) => ref.startsWith(prefix))
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

export async function setHeadBranch({ gitdir, files }: WritableRepository, name: string): Promise<void> {
  await files.write(join(gitdir, 'HEAD'), `ref: refs/heads/${name}\n`)
}

export type MoveOutcome = 'moved' | 'not_as_expected' | 'name_in_use'

/**
 * Moves a branch or tag by compare and swap from `from` (`undefined`: it does not exist) to `to` (`undefined`: it is
 * deleted), after everything written before has reached the disk. `name_in_use` is returned for the name `a` if `a/b`
 * exists and vice versa, because Git cannot store both.
 *
 * @throws DomainError `storage_full` if the objects written before, or a new reference, exceed the project's storage
 *   limit
 */
export async function moveReference(
  repository: WritableRepository,
  kind: RefKind,
  { name, from, to }: { name: string; from: string | undefined; to: string | undefined },
): Promise<MoveOutcome> {
  const { files, gitdir } = repository
  if ((await findReference(repository, kind, name)) !== from) return 'not_as_expected'
  await files.flush()
  if (to === undefined) await removeReference(repository, kind, name)
  else {
    if (from === undefined) {
      const others = await listReferences(repository, kind)
      if (others.some((other) => other.name.startsWith(`${name}/`) || name.startsWith(`${other.name}/`)))
        return 'name_in_use'
      await removeEmptyDirectories(join(gitdir, 'refs', kind, name))
    }
    await repository.chargeObjects(from === undefined ? referenceSpace(name) : 0)
    await files.write(join(gitdir, 'refs', kind, name), `${to}\n`)
  }
  await files.flush()
  return 'moved'
}

async function removeReference({ files, gitdir }: WritableRepository, kind: RefKind, name: string): Promise<void> {
  const packed = await packedRefs(gitdir)
  // The packed reference goes first: if only the loose one were removed, the packed one would be valid again.
  if (packed.delete(`refs/${kind}/${name}`)) {
    const lines = [...packed].map(([ref, oid]) => `${oid} ${ref}\n`)
    await files.write(join(gitdir, 'packed-refs'), `# pack-refs with: sorted\n${lines.join('')}`)
    await files.flush()
  }
  await files.remove(join(gitdir, 'refs', kind, name))
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

/** Returns the references written by `git pack-refs`: the object by full name. */
async function packedRefs(gitdir: string): Promise<Map<string, string>> {
  const text = (await readFile(join(gitdir, 'packed-refs'), 'utf8').catch(ignoreMissing)) ?? ''
  return new Map([...text.matchAll(/(?<![^\n])([0-9a-f]{40}) ([^\n]+)/g)].map(([, oid, ref]) => [ref!, oid!]))
}

/**
 * Ignores errors that mean that the reference does not exist: no such file, or a file and a directory in each other's
 * place.
 */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR' && error.code !== 'EISDIR') throw error
}
