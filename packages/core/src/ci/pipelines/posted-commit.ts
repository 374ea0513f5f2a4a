import { referencesContaining } from '../../base/git/containing-references.ts'
import { findReference } from '../../base/git/git-reference.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { titleOf } from '../../code/repositories/commit.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import type { RecordedCommit } from './pipeline.ts'

const MAX_TITLE_LENGTH = 255
const MAX_MESSAGE_LENGTH = 10_000

/** A commit, with the data that the repository has about it. */
export interface CommitTarget {
  readonly sha: string
  /** `undefined` if the repository does not have the commit. */
  readonly commit: RecordedCommit | undefined
  readonly ref: string | undefined
  readonly isTag: boolean
}

/**
 * Returns the commit to which a status belongs. Its ref is the given one, or the first branch that contains it.
 *
 * @throws DomainError `not_found`, unless the commit is in the repository or its id is complete
 */
export async function commitToPostTo(
  { core }: OperationContext,
  project: Project,
  { sha: wanted, ref: givenRef }: { readonly sha: string; readonly ref?: string | null | undefined },
): Promise<CommitTarget> {
  const repository = await findProjectRepository(core, project)
  const oid = await repository?.findCommit(wanted)
  if (repository === undefined || oid === undefined) {
    // A recorded pipeline may be of a commit that was never pushed to this repository.
    if (!/^[0-9a-f]{40}$/i.test(wanted)) throw notFound('Commit')
    return { sha: wanted.toLowerCase(), commit: undefined, ref: givenRef || undefined, isTag: false }
  }
  const { message, author, committer } = await repository.git.commit(oid)
  const ref = givenRef || (await referencesContaining(repository.git, 'heads', oid))?.[0]?.name
  const isTag =
    ref !== undefined &&
    (await findReference(repository.git, 'heads', ref)) === undefined &&
    (await findReference(repository.git, 'tags', ref)) !== undefined
  const commit = {
    id: oid,
    title: titleOf(message).slice(0, MAX_TITLE_LENGTH),
    message: message.slice(0, MAX_MESSAGE_LENGTH),
    authorName: author.name,
    committedAtMs: committer.atSeconds * 1_000,
  }
  return { sha: oid, commit, ref, isTag }
}
