import { DEFAULT_BRANCH } from '../../base/git/change-repository.ts'
import { applyActions, type CommitAction, refused, requireSegments } from '../../base/git/commit-actions.ts'
import { type CommitObject, signatureAt } from '../../base/git/git-object.ts'
import {
  findReference,
  headBranch,
  listReferences,
  moveReference,
  setHeadBranch,
} from '../../base/git/git-reference.ts'
import type { WritableRepository } from '../../base/git/git-repository.ts'
import { lastChange } from '../../base/git/history.ts'
import { pushedCommits } from '../../base/git/pushed-commits.ts'
import { isRefName } from '../../base/git/repository-path.ts'
import { findRevision } from '../../base/git/revision.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { noPushGuard, type PushGuard } from './branch-protection.ts'
import { type ChangeContext, changeProjectRepository } from './change-project-repository.ts'
import { type Commit, commitOfProject } from './commit.ts'
import { type Push, recordPush } from './repository-store.ts'

/** The committer, who is also the author unless the request names another. */
export type Committer = Pick<User, 'id' | 'name' | 'email'>

interface CommitRequest {
  readonly branch: string
  readonly message: string
  readonly actions: readonly CommitAction[]
  /** The branch, tag or commit from which a new branch starts. */
  readonly start?: string | undefined
  /** Overwrites an existing branch, if `start` is set: its former commits are no longer part of it. */
  readonly force?: boolean | undefined
  readonly authorName?: string | undefined
  readonly authorEmail?: string | undefined
}

/**
 * Creates one commit with all actions. The first commit of a repository makes its branch the default branch.
 *
 * @throws DomainError `refused` if an action is not possible, `conflict` if other writers keep the repository locked,
 *   and what the guard throws
 */
export function commitToBranch(
  context: ChangeContext,
  project: Project,
  committer: Committer,
  request: CommitRequest,
  guard: PushGuard,
): Promise<Commit> {
  return changeProjectRepository(context, project, async (repository) => {
    const { branch } = request
    if (!isRefName(branch)) throw refused('The branch name is not a valid name of a branch')
    const tip = await findReference(repository, 'heads', branch)
    const base = await baseOf(repository, project, request, tip)
    guard({
      isDefault: base === undefined || branch === (project.defaultBranch ?? (await headBranch(repository))),
      isFirst: base === undefined,
      isForced: tip !== undefined && base !== tip,
    })
    const commit = await commitOnto(repository, base, request, signaturesOf(context.core, committer, request))
    const oid = await repository.writeCommit(commit)
    if (base === undefined) await setHeadBranch(repository, branch)
    const since = tip ?? (await defaultTip(repository, project))
    const push = await planPush(repository, { project, committer, branch, before: tip, after: oid, since })
    // The branch of HEAD after the change.
    const name = base === undefined ? branch : await headBranch(repository)
    return async (tx) => {
      await recordPush(tx, push, name === undefined ? undefined : { name, isFirst: base === undefined })
      return commitOfProject(project, { oid, ...commit })
    }
  })
}

/**
 * Plans to move a branch to a commit, and returns the push to record.
 *
 * @throws DomainError `refused` if another branch stands in the way of the name, `conflict` if the branch has moved
 */
export async function planPush(
  repository: WritableRepository,
  {
    project,
    committer,
    branch,
    before,
    after,
    since,
  }: {
    readonly project: Pick<Project, 'id'>
    readonly committer: Pick<Committer, 'id'>
    readonly branch: string
    /** `undefined` if the branch is new. */
    readonly before: string | undefined
    readonly after: string
    /** The commit up to which the history is not part of the push. */
    readonly since: string | undefined
  },
): Promise<Push> {
  const outcome = await moveReference(repository, 'heads', { name: branch, from: before, to: after })
  if (outcome === 'name_in_use') throw refused(`The branch name ${branch} conflicts with the name of another branch`)
  if (outcome === 'not_as_expected') throw new DomainError({ code: 'conflict' })
  const pushed = await pushedCommits(repository, { before: since, after })
  return { projectId: project.id, actorId: committer.id, kind: 'heads', name: branch, before, after, pushed }
}

/** Returns the head commit of the default branch, which a new branch usually starts from. */
async function defaultTip(repository: WritableRepository, { defaultBranch }: Project): Promise<string | undefined> {
  const name = defaultBranch ?? (await headBranch(repository))
  return name === undefined ? undefined : findReference(repository, 'heads', name)
}

/**
 * Creates the first commit of a new project, with a README.
 *
 * @throws DomainError `refused` if the repository has commits
 */
export async function initializeRepository(
  context: ChangeContext,
  project: Project,
  author: Committer,
): Promise<Commit> {
  const content = `# ${project.name}\n${project.description ? `\n${project.description}\n` : ''}`
  const request: CommitRequest = {
    branch: project.defaultBranch ?? DEFAULT_BRANCH,
    message: 'Initial commit',
    actions: [{ action: 'create', filePath: 'README.md', content }],
  }
  return commitToBranch(context, project, author, request, noPushGuard)
}

/** Returns the parent of the new commit, or `undefined` for the first commit of the repository. */
async function baseOf(
  repository: WritableRepository,
  project: Project,
  { branch, start, force }: CommitRequest,
  tip: string | undefined,
): Promise<string | undefined> {
  if (start !== undefined && (start !== branch || force)) {
    if (tip !== undefined && !force) throw refused(`A branch called ${branch} already exists`)
    const begin = await findRevision(repository, start, project.defaultBranch)
    if (begin === undefined) throw refused('There is no branch, tag or commit to start from with that name')
    return begin
  }
  if (tip !== undefined) return tip
  const branches = await listReferences(repository, 'heads')
  if (branches.length > 0) throw refused(`There is no branch called ${branch}; give a start_branch to create it`)
  return undefined
}

async function commitOnto(
  repository: WritableRepository,
  base: string | undefined,
  { message, actions }: CommitRequest,
  signatures: Pick<CommitObject, 'author' | 'committer'>,
): Promise<CommitObject> {
  const baseTree = base === undefined ? undefined : (await repository.commit(base)).tree
  const isUnchangedSince = async (path: string, commitId: string) => {
    if (base === undefined) return false
    const changed = await lastChange(repository, base, requireSegments(path))
    const known = await findRevision(repository, commitId, undefined)
    if (changed === undefined || known === undefined) return false
    return changed.oid === known || (await lastChange(repository, known, requireSegments(path)))?.oid === changed.oid
  }
  const tree = await applyActions(repository, baseTree, actions, isUnchangedSince)
  return { tree, parents: base === undefined ? [] : [base], message, ...signatures }
}

function signaturesOf(
  { clock }: Core,
  { name, email }: Committer,
  { authorName, authorEmail }: CommitRequest,
): Pick<CommitObject, 'author' | 'committer'> {
  const committer = signatureAt({ name, email }, clock.nowMs())
  return { committer, author: { ...committer, name: authorName ?? name, email: authorEmail ?? email } }
}
