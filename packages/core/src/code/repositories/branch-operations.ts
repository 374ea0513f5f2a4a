import { z } from 'zod'
import { standingOf } from '../../base/access/subject.ts'
import { refused } from '../../base/git/commit-actions.ts'
import {
  findReference,
  type GitReference,
  headBranch,
  listReferences,
  moveReference,
} from '../../base/git/git-reference.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { ancestorsAmong } from '../../base/git/history.ts'
import { pushedCommits } from '../../base/git/pushed-commits.ts'
import { isRefName } from '../../base/git/repository-path.ts'
import { findRevision } from '../../base/git/revision.ts'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { inBatches } from '../../base/kit/in-batches.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { compiledRegex, MAX_REGEX } from '../../base/kit/user-regex.ts'
import type { Project } from '../../base/model/project.ts'
import { type OperationContext, readContextOf } from '../../base/operations/context.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { canPushTo, defaultBranchRules, pushGuard } from './branch-protection.ts'
import { changeProjectRepository } from './change-project-repository.ts'
import { type Commit, commitOfProject } from './commit.ts'
import { pageOfArray, requireCommitter, revision } from './commit-operations.ts'
import { matchesSearch, withMatchingName } from './name-search.ts'
import { findProjectRepository, type ProjectRepository } from './project-repository.ts'
import { authoredAtMs, recordPush } from './repository-store.ts'

export interface Branch {
  readonly name: string
  readonly commit: Commit
  readonly isDefault: boolean
  /**
   * Whether the default branch contains all commits of this branch and at least one more. False for the default branch
   * itself.
   */
  readonly isMerged: boolean
  readonly canPush: boolean
  /** Whether only some of the users who may push to the repository may change it. */
  readonly isProtected: boolean
  /** Whether Developers may push to the branch, or merge into it, although it is protected. */
  readonly developersCanPush: boolean
  readonly developersCanMerge: boolean
}

const branchOrders = ['name_asc', 'updated_asc', 'updated_desc'] as const

export const listBranches = query(
  {
    name: 'listBranches',
    caller: 'anyone',
    input: z
      .object({
        project: namespaceRef,
        search: z.string().max(255).nullish(),
        regex: z.string().max(MAX_REGEX).nullish(),
        sort: z.enum(branchOrders).default('name_asc'),
        ...pageInput,
      })
      .superRefine(({ search, regex }, context) => {
        const names = ['search', 'regex']
        if (search && regex) context.addIssue(problem('mutually_exclusive', { names }))
      }, acrossParameters),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async (context, { search, regex, sort, page, perPage }): Promise<Page<Branch>> => {
    const { core, subject } = context
    const repository = await findProjectRepository(core, subject)
    const all = repository === undefined ? [] : await listReferences(repository.git, 'heads')
    const isMatch = regex ? matcherOf(regex) : (name: string) => matchesSearch(search, name)
    const matching = search || regex ? await withMatchingName(all, isMatch, core.clock) : all
    const sorted = repository === undefined ? [] : await sortBranches(repository.git, matching, sort)
    const references = pageOfArray(sorted, { page, perPage })
    return { ...references, items: repository ? await branchesOf(context, subject, repository, references.items) : [] }
  },
)

export const getBranch = query(
  {
    name: 'getBranch',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, branch: revision }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async (context, { branch: name }): Promise<Branch> => {
    const { core, subject } = context
    const repository = await findProjectRepository(core, subject)
    const oid = repository && (await findReference(repository.git, 'heads', name))
    if (oid === undefined) throw notFound('Branch')
    return (await branchesOf(context, subject, repository!, [{ name, oid }]))[0]!
  },
)

export const createBranch = steps(
  {
    name: 'createBranch',
    input: z.object({ project: namespaceRef, branch: z.string().min(1), ref: revision }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  async (context, { branch: name, ref }): Promise<Branch> => {
    const { core, subject } = context
    const { id: actorId } = await requireCommitter(context)
    if (!isRefName(name)) throw refused('The branch name is not a valid name of a branch')
    const repository = await findProjectRepository(core, subject)
    if (repository === undefined) throw refused('The repository is empty: create a first commit before a branch')
    const guard = await pushGuard(context)
    guard({ isDefault: name === repository.defaultBranch })
    const oid = await changeProjectRepository(context, subject, async (writable) => {
      const to = await findRevision(writable, ref, repository.defaultBranch)
      if (to === undefined) throw refused('There is no branch, tag or commit to start from with that name')
      const outcome = await moveReference(writable, 'heads', { name, from: undefined, to })
      if (outcome === 'not_as_expected') throw refused(`A branch called ${name} already exists`)
      if (outcome === 'name_in_use') throw refused(`The branch name ${name} conflicts with the name of another branch`)
      const { defaultBranch } = repository
      const from = defaultBranch && (await findReference(writable, 'heads', defaultBranch))
      const pushed = await pushedCommits(writable, { before: from, after: to })
      const push = {
        projectId: subject.id,
        actorId,
        kind: 'heads',
        name,
        before: undefined,
        after: to,
        pushed,
      } as const
      return async (tx) => {
        await recordPush(tx, push)
        return to
      }
    })
    return (await branchesOf(context, subject, repository, [{ name, oid }]))[0]!
  },
)

export const removeBranch = steps(
  {
    name: 'removeBranch',
    input: z.object({ project: namespaceRef, branch: revision }),
    isConditional: true,
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  async (context, { branch: name }): Promise<void> => {
    const { core, subject } = context
    const { id: actorId } = await requireCommitter(context)
    if ((await findProjectRepository(core, subject)) === undefined) throw notFound('Branch')
    await changeProjectRepository(context, subject, async (writable) => {
      const before = await findReference(writable, 'heads', name)
      if (before === undefined) throw notFound('Branch')
      // The default branch may have changed while this operation waited for its turn.
      const { defaultBranch } = await getProject(readContextOf(core), subject.id)
      if (name === (defaultBranch ?? (await headBranch(writable)))) {
        throw new DomainError({ code: 'protected', message: 'The default branch cannot be deleted' })
      }
      context.requireUnmodified(authoredAtMs(await writable.commit(before)))
      await moveReference(writable, 'heads', { name, from: before, to: undefined })
      const push = { projectId: subject.id, actorId, kind: 'heads', name, before, after: undefined } as const
      return (tx) => recordPush(tx, push)
    })
  },
)

/** Returns a test of names by a regular expression. @throws DomainError `parameters` for an invalid expression */
function matcherOf(regex: string): (name: string) => boolean {
  const expression = compiledRegex(regex)
  if (expression === undefined)
    throw new DomainError({ code: 'parameters', problems: [{ path: ['regex'], problem: 'invalid' }] })
  return (name) => expression.test(name)
}

/** Sorts references, which are in the order of their names, by the committer time of their commits. */
async function sortBranches(
  git: GitRepository,
  references: readonly GitReference[],
  order: (typeof branchOrders)[number],
): Promise<readonly GitReference[]> {
  if (order === 'name_asc') return references
  const times = new Map<string, number>()
  for (const { oid } of references)
    if (!times.has(oid)) times.set(oid, (await git.commitHeader(oid)).committer.atSeconds)
  const sign = order === 'updated_asc' ? 1 : -1
  return references.toSorted((a, b) => sign * (times.get(a.oid)! - times.get(b.oid)!))
}

async function branchesOf(
  context: ReadContext & OperationContext,
  project: Project,
  { git, defaultBranch }: ProjectRepository,
  references: readonly GitReference[],
): Promise<Branch[]> {
  const defaultTip = defaultBranch && (await findReference(git, 'heads', defaultBranch))
  const tips = new Set(references.map(({ oid }) => oid))
  const merged = defaultTip ? await ancestorsAmong(git, defaultTip, tips) : new Set<string>()
  const standing = await standingOf(context, context.actor, project)
  const rules = await defaultBranchRules(context, project)
  return inBatches(references, async ({ name, oid }) => ({
    name,
    commit: commitOfProject(project, { oid, ...(await git.shownCommit(oid)) }, { withTrailers: false }),
    isDefault: name === defaultBranch,
    isMerged: oid !== defaultTip && merged.has(oid),
    canPush: canPushTo(standing, rules, { isDefault: name === defaultBranch }),
    isProtected: name === defaultBranch && rules.isProtected,
    developersCanPush: name === defaultBranch && rules.isProtected && rules.developersPush,
    developersCanMerge: name === defaultBranch && rules.isProtected && rules.developersMerge,
  }))
}
