import { changeRepository, DEFAULT_BRANCH } from '../../base/git/change-repository.ts'
import { applyActions, type CommitAction, refused } from '../../base/git/commit-actions.ts'
import { signatureAt } from '../../base/git/git-object.ts'
import { findReference, moveReference } from '../../base/git/git-reference.ts'
import type { GitRepository, WritableRepository } from '../../base/git/git-repository.ts'
import { findRepository } from '../../base/git/repository-directory.ts'
import type { RepositoryKey } from '../../base/git/repository-key.ts'
import { findRevision } from '../../base/git/revision.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import type { StepsContext } from '../../base/operations/operation.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import type { Committer } from '../repositories/commit-to-branch.ts'
import { type RepositoryTreeEntry, treeEntriesAt } from '../repositories/tree-entries.ts'
import { repositoryError, type SnippetChange, tooMuchContent } from './snippet-actions.ts'
import { openSnippetStorage, type SnippetOwner } from './snippet-storage.ts'

const MAX_SNIPPET_FILES = 10
/** The space of a repository beyond its files: for former versions, and because a file takes whole blocks of the disk. */
const SPACE_FOR_HISTORY_BYTES = 10 * 1024 * 1024

const keyOf = (id: number): RepositoryKey => ({ kind: 'snippet', id })

interface SnippetCommit {
  readonly id: number
  readonly owner: SnippetOwner
  readonly committer: Committer
  readonly actions: readonly CommitAction[]
  readonly change: SnippetChange
}

/**
 * Applies all actions in one commit, and runs `storeRows` with the paths of the files afterwards. Commit and rows become
 * effective together. There is no commit if the files stay as they are.
 *
 * @throws DomainError `refused`, `invalid`, `storage_full`, `conflict`, and what `storeRows` throws
 */
export async function commitToSnippet<Result>(
  { core, write }: Pick<StepsContext, 'core' | 'write'>,
  { id, owner, committer, actions, change }: SnippetCommit,
  storeRows: (tx: OperationContext & Tx, files: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const limitBytes = await settingOf(core, 'snippet_size_limit')
  const openStorage = (gitdir: string, isNew: boolean) =>
    openSnippetStorage(core, { id, owner, limitBytes: limitBytes + SPACE_FOR_HISTORY_BYTES, gitdir, isNew })
  return changeRepository(core, keyOf(id), { write, openStorage }, async (repository) => {
    const tip = await findReference(repository, 'heads', DEFAULT_BRANCH)
    const before = tip === undefined ? undefined : (await repository.commit(tip)).tree
    const tree = await treeAfter(repository, before, actions, change)
    if (tip !== undefined && tree === before) {
      const files = await filesAt(repository, tip)
      return (tx) => storeRows(tx, pathsOf(files))
    }
    const signature = signatureAt(committer, core.clock.nowMs())
    const oid = await repository.writeCommit({
      tree,
      parents: tip === undefined ? [] : [tip],
      message: tip === undefined ? 'Initial commit' : 'Update snippet',
      author: signature,
      committer: signature,
    })
    const files = await filesAt(repository, oid)
    await requireAllowed(repository, files, limitBytes)
    const outcome = await moveReference(repository, 'heads', { name: DEFAULT_BRANCH, from: tip, to: oid })
    if (outcome !== 'planned') throw new DomainError({ code: 'conflict' })
    return (tx) => storeRows(tx, pathsOf(files))
  })
}

async function treeAfter(
  repository: WritableRepository,
  before: string | undefined,
  actions: readonly CommitAction[],
  change: SnippetChange,
): Promise<string> {
  try {
    return await applyActions(repository, before, actions, async () => true)
  } catch (error) {
    const isRefused = error instanceof DomainError && error.failure.code === 'refused'
    throw isRefused ? repositoryError(change) : error
  }
}

/** @throws DomainError `refused` for too many files or none, `invalid` for too much content */
async function requireAllowed(
  repository: WritableRepository,
  files: readonly RepositoryTreeEntry[],
  limitBytes: number,
): Promise<void> {
  if (files.length > MAX_SNIPPET_FILES) {
    throw refused(`The repository can contain at most ${MAX_SNIPPET_FILES} file(s).`)
  }
  if (files.length === 0) throw refused('The repository must contain at least 1 file.')
  let bytes = 0
  for (const { sha } of files) bytes += await repository.blobSize(sha)
  if (bytes > limitBytes) throw tooMuchContent(bytes, limitBytes)
}

/** Returns the files at a commit in the order of their paths. */
const filesAt = async (repository: GitRepository, commit: string): Promise<RepositoryTreeEntry[]> =>
  (await treeEntriesAt(repository, commit, '', true))!.filter(({ type }) => type === 'blob')

const pathsOf = (files: readonly RepositoryTreeEntry[]): string[] => files.map(({ path }) => path)

/** The files of a snippet at a branch, tag or commit. */
export interface SnippetFiles {
  readonly git: GitRepository
  /** In the order of their paths. */
  readonly files: readonly RepositoryTreeEntry[]
}

/** @param ref default: the default branch. @returns `no_ref` if there is no such branch, tag or commit */
export async function readSnippetFiles(
  core: OperationContext['core'],
  id: number,
  ref?: string,
): Promise<SnippetFiles | 'no_repository' | 'no_ref'> {
  const git = await findRepository(core, keyOf(id))
  if (git === undefined) return 'no_repository'
  const commit = await findRevision(git, ref, DEFAULT_BRANCH)
  return commit === undefined ? 'no_ref' : { git, files: await filesAt(git, commit) }
}
