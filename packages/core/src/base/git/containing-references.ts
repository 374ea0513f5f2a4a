import { type GitReference, listReferences, type RefKind } from './git-reference.ts'
import type { GitRepository } from './git-repository.ts'
import { MAX_SEARCHED } from './history.ts'

/**
 * Returns the references of a kind that contain a commit, ordered by name.
 *
 * @returns `undefined` if more than `MAX_SEARCHED` commits would have to be visited
 */
export async function referencesContaining(
  repository: GitRepository,
  kind: RefKind,
  oid: string,
): Promise<GitReference[] | undefined> {
  const references = await listReferences(repository, kind)
  if (references.length > MAX_SEARCHED) return undefined
  const tips: (string | undefined)[] = []
  for (const reference of references) tips.push(await repository.commitNamedBy(reference.oid))
  const containing = await commitsContaining(
    repository,
    tips.filter((tip) => tip !== undefined),
    oid,
  )
  return containing && references.filter((_, index) => tips[index] !== undefined && containing.has(tips[index]!))
}

/**
 * Returns a commit and those of the tips and their ancestors that descend from it. The parents of a commit older than
 * the given one are not visited, because they cannot descend from it.
 *
 * @returns `undefined` if more than `MAX_SEARCHED` commits would have to be visited
 */
export async function commitsContaining(
  repository: GitRepository,
  tips: readonly string[],
  oid: string,
): Promise<ReadonlySet<string> | undefined> {
  const { committer } = await repository.commitHeader(oid)
  const visited = new Set(tips)
  const childrenOf = new Map<string, string[]>()
  // The set grows during the iteration, which visits the added commits too.
  for (const at of visited) {
    if (visited.size > MAX_SEARCHED) return undefined
    if (at === oid) continue
    const header = await repository.commitHeader(at)
    if (header.committer.atSeconds < committer.atSeconds) continue
    for (const parent of header.parents) {
      visited.add(parent)
      const children = childrenOf.get(parent)
      if (children === undefined) childrenOf.set(parent, [at])
      else children.push(at)
    }
  }
  const containing = new Set([oid])
  for (const at of containing) for (const child of childrenOf.get(at) ?? []) containing.add(child)
  return containing
}
