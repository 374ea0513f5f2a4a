import { changeRepository } from '../../base/git/change-repository.ts'
import { refused } from '../../base/git/commit-actions.ts'
import { signatureAt } from '../../base/git/git-object.ts'
import { findReference, moveReference } from '../../base/git/git-reference.ts'
import type { GitRepository, WritableRepository } from '../../base/git/git-repository.ts'
import { findRepository } from '../../base/git/repository-directory.ts'
import type { RepositoryKey } from '../../base/git/repository-key.ts'
import { isRefName } from '../../base/git/repository-path.ts'
import type { RepositoryStorage } from '../../base/git/repository-storage.ts'
import { TreeDraft } from '../../base/git/tree-draft.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { ParentRef } from '../../base/model/parent.ts'
import type { User } from '../../base/model/user.ts'
import type { Core, OperationContext, Tx } from '../../base/operations/context.ts'
import type { ChangeContext } from '../../code/repositories/change-project-repository.ts'
import { type OwnRepository, openOwnStorage } from '../../code/repositories/repository-storage.ts'
import { getParent } from '../../identity/parents/parent-operations.ts'
import { chargeStorage } from '../../identity/projects/storage-store.ts'
import { headOf, type WikiHead } from './wiki-tree.ts'

const wikiKey = ({ kind, id }: ParentRef): RepositoryKey => ({ kind: `${kind}_wiki`, id })

/** A wiki's repository for reading, with its default branch. */
export interface OpenWiki {
  readonly repository: GitRepository
  readonly head: WikiHead
}

/** Opens the wiki of a group or project, or returns `undefined` if nothing has been written to it yet. */
export async function openWiki(core: Pick<Core, 'settings' | 'db'>, parent: ParentRef): Promise<OpenWiki | undefined> {
  const repository = await findRepository(core, wikiKey(parent))
  return repository && { repository, head: await headOf(repository) }
}

/** The head of a branch while a commit to it is made. */
export interface WikiDraft {
  readonly repository: WritableRepository
  readonly head: WikiHead
  readonly tree: TreeDraft
}

/** The commit that a change makes, and the function that stores its rows in the same transaction. */
interface PlannedCommit<Result> {
  /** Missing if nothing in the tree has changed, so that no commit is made. */
  readonly message?: string
  readonly storeRows: (tx: OperationContext & Tx, commit: WikiCommit) => Promise<Result>
}

/** The commit of a change. */
export interface WikiCommit {
  readonly branch: string
  /** The id of the commit; missing if none was made. */
  readonly version: string | undefined
}

/**
 * Changes the wiki of a group or project with one commit, as its only writer. The first change creates its repository.
 *
 * @param branch Default: the default branch. Another one must exist
 * @throws DomainError like `changeRepository`; `refused` for a branch that does not exist
 */
export function changeWiki<Result>(
  { core, write }: ChangeContext,
  parent: ParentRef,
  author: Pick<User, 'name' | 'email'>,
  plan: (draft: WikiDraft) => Promise<PlannedCommit<Result>>,
  branch?: string,
): Promise<Result> {
  const openStorage = (gitdir: string, isNew: boolean) => openWikiStorage(core, parent, { gitdir, isNew })
  return changeRepository(core, wikiKey(parent), { write, openStorage }, async (repository) => {
    const head = await headOfBranch(repository, branch)
    const tree = await TreeDraft.of(repository, head.tree)
    const { message, storeRows } = await plan({ repository, head, tree })
    let version: string | undefined
    if (message !== undefined) {
      const person = signatureAt(author, core.clock.nowMs())
      version = await repository.writeCommit({
        tree: await tree.write(repository),
        parents: head.tip === undefined ? [] : [head.tip],
        author: person,
        committer: person,
        message,
      })
      const outcome = await moveReference(repository, 'heads', { name: head.branch, from: head.tip, to: version })
      if (outcome !== 'planned') throw new DomainError({ code: 'conflict' })
    }
    return async (tx) => {
      // The parent may have been removed before its repository was locked.
      await getParent(tx, parent.kind, parent.id)
      return storeRows(tx, { branch: head.branch, version })
    }
  })
}

/** Opens the storage of a wiki. A wiki may store as much as a project; that of a project also counts for the project. */
async function openWikiStorage(
  core: Core,
  parent: ParentRef,
  directory: Pick<OwnRepository, 'gitdir' | 'isNew'>,
): Promise<RepositoryStorage> {
  // 0 means no limit.
  const limitBytes = core.settings.projectStorageBytes || Number.MAX_SAFE_INTEGER
  const own = await openOwnStorage(core, { key: wikiKey(parent), limitBytes, ...directory })
  if (parent.kind === 'group') return own
  return {
    requireRoom: own.requireRoom,
    charge: async (db, growth) => {
      await own.charge(db, growth)
      if (growth > 0) await chargeStorage({ db }, core, parent.id, { wikiBytes: growth })
    },
  }
}

async function headOfBranch(repository: WritableRepository, branch: string | undefined): Promise<WikiHead> {
  const head = await headOf(repository)
  if (branch === undefined || branch === head.branch) return head
  const tip = isRefName(branch) ? await findReference(repository, 'heads', branch) : undefined
  if (tip === undefined) throw refused('You can only create or edit files when you are on a branch')
  return { branch, tip, tree: (await repository.commitHeader(tip)).tree }
}
