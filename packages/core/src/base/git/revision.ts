import { findReference } from './git-reference.ts'
import type { GitRepository } from './git-repository.ts'

/** The minimum length of an abbreviated commit id. */
const MIN_PREFIX_LENGTH = 4

const isFullId = (text: string): boolean => /^[0-9a-f]{40}$/i.test(text)

/**
 * Returns the commit that a revision refers to. A full id comes first, then a tag, a branch, and an abbreviated id, as
 * in Git. `HEAD` and `undefined` mean the default branch.
 */
export async function findRevision(
  repository: GitRepository,
  revision: string | undefined,
  defaultBranch: string | undefined,
): Promise<string | undefined> {
  const oid = await objectNamed(repository, revision ?? 'HEAD', defaultBranch)
  return oid && repository.commitNamedBy(oid)
}

async function objectNamed(
  repository: GitRepository,
  revision: string,
  defaultBranch: string | undefined,
): Promise<string | undefined> {
  if (revision === 'HEAD') return defaultBranch && findReference(repository, 'heads', defaultBranch)
  if (isFullId(revision)) return revision.toLowerCase()
  const full = /^refs\/(heads|tags)\/(.+)$/s.exec(revision)
  if (full !== null) return findReference(repository, full[1] as 'heads' | 'tags', full[2]!)
  const named =
    (await findReference(repository, 'tags', revision)) ?? (await findReference(repository, 'heads', revision))
  if (named !== undefined) return named
  return expandShort(repository, revision)
}

/** Returns the commit with this id, which may be abbreviated. Branches and tags are not considered. */
export async function findCommitById(repository: GitRepository, id: string): Promise<string | undefined> {
  const oid = isFullId(id) ? id.toLowerCase() : await expandShort(repository, id)
  const commit = oid && (await repository.commitNamedBy(oid))
  return commit === oid ? commit : undefined
}

async function expandShort(repository: GitRepository, id: string): Promise<string | undefined> {
  const isShort = /^[0-9a-f]+$/i.test(id) && id.length >= MIN_PREFIX_LENGTH && id.length < 40
  return isShort ? repository.expand(id.toLowerCase()) : undefined
}
