import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { branchName } from '../../base/git/branch-name.ts'
import { findReference } from '../../base/git/git-reference.ts'
import { pushedCommits } from '../../base/git/pushed-commits.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import { type Page, type PageRequest, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { command, query, steps, unscopedQuery } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { addCommitMentions } from '../../code/mentions/issue-mention-store.ts'
import { type IssueReference, issueReferencesIn } from '../../code/mentions/issue-references.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { getGroup } from '../../identity/groups/group-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { issuableTitle, scopeOf } from '../issues/issuable.ts'
import { milestoneIdAfter, setMetadata } from '../issues/issuable-changes.ts'
import { withLabelDetails } from '../issues/issuable-label-store.ts'
import { withBranchChecks } from './check-branches.ts'
import type { ListedMergeRequest } from './merge-request.ts'
import {
  changeMergeRequest,
  changes,
  fields,
  getMergeRequest,
  getMergeRequestToUpdate,
  mergeRequestEvents,
  recordTextMentions,
  requireBranches,
  requireUniqueBranches,
} from './merge-request-changes.ts'
import { type ShownMergeRequest, shownMergeRequest } from './merge-request-details.ts'
import { type MergeRequestFilter, mergeRequestFilterOf, restMergeRequestFilterInput } from './merge-request-filter.ts'
import { pageOfMergeRequests } from './merge-request-list-store.ts'
import { deleteMergeRequest, insertMergeRequest, mergeRequestTables } from './merge-request-store.ts'
import { setReviewers } from './review-store.ts'

const inProject = { project: namespaceRef }
const oneMergeRequest = { ...inProject, mergeRequestIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)
/** Merge requests of archived projects are left out by default. */
const nonArchived = z.boolean().default(true)
const listInput = {
  ...restMergeRequestFilterInput,
  /** Checks the branches of listed merge requests, if they have moved since the last check. */
  withMergeStatusRecheck: z.boolean().default(false),
  ...pageInput,
}

export const listMergeRequests = unscopedQuery(
  { name: 'listMergeRequests', input: z.object({ ...listInput, nonArchived }) },
  (context, { scope = 'created_by_me', ...input }) =>
    pageOfListedMergeRequests(context, { ...mergeRequestFilterOf(input), ...scopeOf(scope, context.actor) }, input),
)

export const listGroupMergeRequests = query(
  {
    name: 'listGroupMergeRequests',
    caller: 'anyone',
    input: z.object({ group: namespaceRef, ...listInput, nonArchived }),
    permission: 'read_group',
    subject: (context, { group }) => getGroup(context, group),
  },
  (context, { scope, ...input }) => {
    const within = { group: context.subject, withSubgroups: true }
    const filter = { ...mergeRequestFilterOf(input), ...scopeOf(scope, context.actor), within }
    return pageOfListedMergeRequests(context, filter, input)
  },
)

export const listProjectMergeRequests = query(
  {
    name: 'listProjectMergeRequests',
    caller: 'anyone',
    input: z.object({ ...inProject, ...listInput }),
    permission: 'read_merge_request',
    subject,
  },
  (context, { scope, ...input }) => {
    const within = { projectId: context.subject.id, standing: context.standing }
    const filter = { ...mergeRequestFilterOf(input), ...scopeOf(scope, context.actor), within }
    return pageOfListedMergeRequests(context, filter, input)
  },
)

async function pageOfListedMergeRequests(
  context: ReadContext & OperationContext,
  filter: MergeRequestFilter,
  input: PageRequest & { readonly withLabelsDetails: boolean; readonly withMergeStatusRecheck: boolean },
): Promise<Page<ListedMergeRequest>> {
  const page = await pageOfMergeRequests(context, context.actor, filter, input)
  const items = input.withMergeStatusRecheck ? await withBranchChecks(context, page.items) : page.items
  return { ...page, items: await withLabelDetails(context, mergeRequestTables, items, input) }
}

export const getProjectMergeRequest = query(
  {
    name: 'getProjectMergeRequest',
    caller: 'anyone',
    input: z.object({
      ...oneMergeRequest,
      includeDivergedCommitsCount: z.boolean().default(false),
    }),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid, includeDivergedCommitsCount }) => {
    const mergeRequest = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
    return shownMergeRequest(context, context.subject, mergeRequest, { includeDivergedCommitsCount })
  },
)

export const createMergeRequest = steps(
  {
    name: 'createMergeRequest',
    input: z.object({
      ...inProject,
      title: issuableTitle,
      sourceBranch: branchName,
      targetBranch: branchName,
      targetProjectId: z.int().optional(),
      ...fields,
    }),
    permission: 'create_merge_request',
    subject,
  },
  async (context, input): Promise<ShownMergeRequest> => {
    const mentioned = await referencesOfBranch(context, context.subject, input)
    const created = await context.write(async (tx) => {
      const project = await getProject(tx, context.subject.id)
      await requirePermission(tx, project, 'create_merge_request')
      if (input.targetProjectId !== undefined && input.targetProjectId !== project.id) {
        // Projects cannot be forked, so a branch can only be merged into its own project.
        throw new DomainError({ code: 'impossible', message: 'Source project is not a fork of the target project' })
      }
      await requireUniqueBranches(tx, project, input)
      await requireBranches(tx, project, input)
      const { id, iid } = await insertMergeRequest(tx, project, tx.actor!.id, {
        title: input.title,
        description: input.description ?? undefined,
        sourceBranch: input.sourceBranch,
        targetBranch: input.targetBranch,
        isDiscussionLocked: undefined,
        isSquashed: input.squash ?? false,
        removesSourceBranch: input.removeSourceBranch ?? undefined,
        milestoneId: await milestoneIdAfter(tx, project, input.milestoneId),
      })
      await recordTextMentions({ ...tx, subject: project }, id, {
        title: input.title,
        description: input.description ?? undefined,
      })
      await addCommitMentions(tx, project.id, input.sourceBranch, mentioned)
      await setMetadata(tx, mergeRequestTables, project, id, input)
      await setReviewers(tx, project, id, input.reviewerIds)
      const mergeRequest = await getMergeRequest(tx, tx.actor, project, iid)
      await recordChange(tx, mergeRequestEvents, 'created', { after: mergeRequest, projectId: project.id })
      return mergeRequest
    })
    return shownMergeRequest(context, context.subject, created)
  },
)

/** Returns the references in the messages of the commits that only the source branch has. */
async function referencesOfBranch(
  { core }: OperationContext,
  project: Project,
  { sourceBranch, targetBranch }: { readonly sourceBranch: string; readonly targetBranch: string },
): Promise<IssueReference[]> {
  const repository = await findProjectRepository(core, project)
  if (repository === undefined) return []
  const after = await findReference(repository.git, 'heads', sourceBranch)
  const before = await findReference(repository.git, 'heads', targetBranch)
  if (after === undefined || before === undefined) return []
  const { commits } = await pushedCommits(repository.git, { before, after })
  return commits.flatMap(({ message }) => issueReferencesIn(message))
}

const changeNames = Object.keys(changes) as (keyof typeof changes)[]

export const updateMergeRequest = steps(
  {
    name: 'updateMergeRequest',
    input: z.object({ ...oneMergeRequest, ...changes }).superRefine((input, context) => {
      if (changeNames.every((name) => input[name] === undefined)) {
        context.addIssue(problem('at_least_one', { names: changeNames }))
      }
    }, acrossParameters),
    permission: 'read_merge_request',
    subject,
  },
  async (context, input): Promise<ShownMergeRequest> => {
    const changed = await context.write(async (tx) => {
      const there = { ...tx, subject: await getProject(tx, context.subject.id) }
      return changeMergeRequest(there, await getMergeRequestToUpdate(there, input), input)
    })
    return shownMergeRequest(context, context.subject, changed)
  },
)

export const removeMergeRequest = command(
  {
    name: 'removeMergeRequest',
    input: z.object(oneMergeRequest),
    permission: 'read_merge_request',
    subject,
    isConditional: true,
  },
  async (tx, { mergeRequestIid }) => {
    const mergeRequest = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
    await requirePermission(tx, tx.subject, 'remove_merge_request')
    tx.requireUnmodified(mergeRequest.updatedAtMs)
    await deleteMergeRequest(tx, mergeRequest.id)
    await recordChange(tx, mergeRequestEvents, 'removed', { before: mergeRequest, projectId: tx.subject.id })
  },
)
