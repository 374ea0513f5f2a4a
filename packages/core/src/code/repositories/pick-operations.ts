import { z } from 'zod'
import { refused } from '../../base/git/commit-actions.ts'
import { type CommitObject, signatureAt } from '../../base/git/git-object.ts'
import { findReference } from '../../base/git/git-reference.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import type { HistoryCommit } from '../../base/git/history.ts'
import { type MergedEntry, mergeTrees, writeMergedTree } from '../../base/git/merge-trees.ts'
import { isRefName } from '../../base/git/repository-path.ts'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import { type Authorized, type StepsContext, steps } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { pushGuard } from './branch-protection.ts'
import { changeProjectRepository } from './change-project-repository.ts'
import { type Commit, commitOfProject, titleOf } from './commit.ts'
import { MAX_MESSAGE_LENGTH, requireCommitter, revision } from './commit-operations.ts'
import { type Committer, planPush } from './commit-to-branch.ts'
import { findProjectRepository } from './project-repository.ts'
import { recordPush } from './repository-store.ts'

/** The new commit, or `undefined` if the change was only tried. */
export interface PickedCommit {
  readonly commit: Commit | undefined
}

const pickInput = {
  project: namespaceRef,
  /** A branch or tag represents its commit. */
  sha: revision,
  branch: z.string().min(1),
  /** Only shows whether the change is possible. */
  dryRun: z.boolean().nullish(),
}
const message = z.string().max(MAX_MESSAGE_LENGTH).nullish()
const subject = (context: ReadContext, { project }: { readonly project: number | string }) =>
  getProject(context, project)

/** Repeats the changes of a commit on a branch. Those of a merge are the ones against its first parent. */
export const cherryPickCommit = steps(
  { name: 'cherryPickCommit', input: z.object({ ...pickInput, message }), subject, permission: 'push_code' },
  (context, input) => pick(context, input, cherryPick(input.message || undefined)),
)

/** Undoes the changes of a commit on a branch. */
export const revertCommit = steps(
  { name: 'revertCommit', input: z.object(pickInput), subject, permission: 'push_code' },
  (context, input) => pick(context, input, revert),
)

/** How the changes of a commit are applied to a branch. */
interface PickMode {
  readonly verb: string
  readonly done: string
  /** Returns the trees between which the changes to apply lie. `parent` is `undefined` for a first commit. */
  treesOf(commit: HistoryCommit, parent: string | undefined): Record<'base' | 'theirs', string | undefined>
  messageOf(commit: HistoryCommit): string
  authorOf(commit: HistoryCommit, committer: CommitObject['committer']): CommitObject['author']
}

const cherryPick = (givenMessage: string | undefined): PickMode => ({
  verb: 'cherry-pick',
  done: 'cherry-picked',
  treesOf: ({ tree }, parent) => ({ base: parent, theirs: tree }),
  messageOf: ({ oid, message }) => givenMessage ?? `${message.trimEnd()}\n\n(cherry picked from commit ${oid})`,
  authorOf: ({ author }) => author,
})

const revert: PickMode = {
  verb: 'revert',
  done: 'reverted',
  treesOf: ({ tree }, parent) => ({ base: tree, theirs: parent }),
  messageOf: ({ oid, message }) => `Revert "${titleOf(message)}"\n\nThis reverts commit ${oid}`,
  authorOf: (_, committer) => committer,
}

async function pick(
  context: StepsContext & Authorized<Project>,
  { sha, branch, dryRun }: z.output<z.ZodObject<typeof pickInput>>,
  mode: PickMode,
): Promise<PickedCommit> {
  const { core, subject: project } = context
  const committer = await requireCommitter(context)
  const repository = await findProjectRepository(core, project)
  const oid = await repository?.findCommit(sha)
  if (repository === undefined || oid === undefined) throw notFound('Commit')
  if (!isRefName(branch)) throw refused('The branch refname is invalid')
  const commit: HistoryCommit = { oid, ...(await repository.git.commit(oid)) }
  const guard = await pushGuard(context)
  guard({ isDefault: branch === repository.defaultBranch })
  if (dryRun) {
    await mergedOnto(repository.git, await tipOf(repository.git, branch), commit, mode)
    return { commit: undefined }
  }
  return changeProjectRepository(context, project, async (writable) => {
    const tip = await tipOf(writable, branch)
    const entries = await mergedOnto(writable, tip, commit, mode)
    const picked = {
      tree: await writeMergedTree(writable, entries),
      parents: [tip],
      message: mode.messageOf(commit),
      ...signaturesOf(commit, mode, committer, core.clock.nowMs()),
    }
    const after = await writable.writeCommit(picked)
    const push = await planPush(writable, { project, committer, branch, before: tip, after, since: tip })
    return async (tx) => {
      await recordPush(tx, push)
      return { commit: commitOfProject(project, { oid: after, ...picked }) }
    }
  })
}

/** @throws DomainError `not_found` */
async function tipOf(git: GitRepository, branch: string): Promise<string> {
  const tip = await findReference(git, 'heads', branch)
  if (tip === undefined) throw notFound('Branch')
  return tip
}

/** @throws DomainError `refused` if the changes cannot be applied, or are in the branch already */
async function mergedOnto(
  git: GitRepository,
  tip: string,
  commit: HistoryCommit,
  { verb, done, treesOf }: PickMode,
): Promise<readonly MergedEntry[]> {
  const [first] = commit.parents
  const parent = first && (await git.commit(first)).tree
  const ours = (await git.commit(tip)).tree
  const merged = await mergeTrees(git, { ours, ...treesOf(commit, parent) })
  if (typeof merged !== 'string') return merged
  throw new DomainError({
    code: 'refused',
    message:
      `Sorry, we cannot ${verb} this commit automatically. This commit may already have been ${done}, ` +
      'or a more recent commit may have updated some of its content.',
    errorCode: merged === 'unchanged' ? 'empty' : 'conflict',
  })
}

function signaturesOf(
  commit: HistoryCommit,
  { authorOf }: PickMode,
  { name, email }: Committer,
  nowMs: number,
): Pick<CommitObject, 'author' | 'committer'> {
  const committer = signatureAt({ name, email }, nowMs)
  return { author: authorOf(commit, committer), committer }
}
