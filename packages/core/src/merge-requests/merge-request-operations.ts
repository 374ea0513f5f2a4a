import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { can } from '../access/can.ts'
import { requirePermission, standingOf } from '../access/subject.ts'
import { getGroup } from '../groups/group-store.ts'
import { issuableChanges, issuableFields, issuableTitle, people, scopeOf } from '../issues/issuable.ts'
import { milestoneIdAfter, setMetadata, setPeople } from '../issues/issuable-changes.ts'
import type { Actor, OperationContext, Reading, Tx } from '../kit/context.ts'
import { DomainError, forbidden, notFound } from '../kit/domain-error.ts'
import type { DomainEvent } from '../kit/event.ts'
import { command, freeQuery, query } from '../kit/operation.ts'
import { pageInput } from '../kit/page.ts'
import { clearable, namespaceRef } from '../kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../kit/parse-input.ts'
import type { Project } from '../projects/project.ts'
import { getProject } from '../projects/project-store.ts'
import { branchName, type MergeRequest, type MergeRequestFilter, mergeRequestFilterInput } from './merge-request.ts'
import {
  deleteMergeRequest,
  findMergeRequest,
  findOpenIid,
  insertMergeRequest,
  type MergeRequestDraft,
  mergeRequestTables,
  pageOfMergeRequests,
  setMergeRequestState,
  updateMergeRequestRow,
} from './merge-request-store.ts'

const inProject = { project: namespaceRef }
const oneMergeRequest = { ...inProject, mergeRequestIid: z.int() }
const subject = (reading: Reading, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(reading, project)
/** Merge requests of archived projects are left out, unless they are asked for. */
const nonArchived = z.boolean().default(true)

export const listMergeRequests = freeQuery(
  { name: 'listMergeRequests', input: z.object({ ...mergeRequestFilterInput, nonArchived, ...pageInput }) },
  (context, { scope = 'created_by_me', ...input }) =>
    pageOfMergeRequests(context, context.actor, { ...filterOf(input), ...scopeOf(scope, context.actor) }, input),
)

export const listGroupMergeRequests = query(
  {
    name: 'listGroupMergeRequests',
    caller: 'anyone',
    input: z.object({ group: namespaceRef, ...mergeRequestFilterInput, nonArchived, ...pageInput }),
    permission: 'read_group',
    subject: (reading, { group }) => getGroup(reading, group),
  },
  (context, { scope, ...input }) => {
    const within = { group: context.subject, withSubgroups: true }
    const filter = { ...filterOf(input), ...scopeOf(scope, context.actor), within }
    return pageOfMergeRequests(context, context.actor, filter, input)
  },
)

export const listProjectMergeRequests = query(
  {
    name: 'listProjectMergeRequests',
    caller: 'anyone',
    input: z.object({ ...inProject, ...mergeRequestFilterInput, ...pageInput }),
    permission: 'read_merge_request',
    subject,
  },
  (context, { scope, ...input }) => {
    const within = { projectId: context.subject.id }
    const filter = { ...filterOf(input), ...scopeOf(scope, context.actor), within }
    return pageOfMergeRequests(context, context.actor, filter, input)
  },
)

export const getProjectMergeRequest = query(
  {
    name: 'getProjectMergeRequest',
    caller: 'anyone',
    input: z.object(oneMergeRequest),
    permission: 'read_merge_request',
    subject,
  },
  (context, { mergeRequestIid }) => getMergeRequest(context, context.actor, context.subject, mergeRequestIid),
)

const fields = {
  ...issuableFields,
  reviewerIds: people,
  squash: clearable(z.boolean()),
  removeSourceBranch: clearable(z.boolean()),
}

export const createMergeRequest = command(
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
  async (tx, input) => {
    const project = tx.subject
    if (input.targetProjectId !== undefined && input.targetProjectId !== project.id) {
      // There are no forks, so that only its own project takes in a branch.
      throw new DomainError({ code: 'impossible', message: 'Source project is not a fork of the target project' })
    }
    await requireOwnBranches(tx, project, input)
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
    await setMetadata(tx, mergeRequestTables, project, id, input)
    await setReviewers(tx, project, id, input.reviewerIds)
    const mergeRequest = await getMergeRequest(tx, tx.actor, project, iid)
    await tx.recordEvent(eventOf('created', mergeRequest))
    return mergeRequest
  },
)

const changes = {
  title: issuableTitle.optional(),
  targetBranch: branchName.optional(),
  ...fields,
  ...issuableChanges,
}
const changeNames = Object.keys(changes) as (keyof typeof changes)[]

export const updateMergeRequest = command(
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
  async (tx, input) => {
    const project = tx.subject
    const before = await getMergeRequest(tx, tx.actor, project, input.mergeRequestIid)
    await requireUpdater(tx, project, before)
    const draft = {
      title: input.title ?? before.title,
      description: input.description === undefined ? before.description : (input.description ?? undefined),
      targetBranch: input.targetBranch ?? before.targetBranch,
      isDiscussionLocked: input.discussionLocked ?? before.isDiscussionLocked,
      isSquashed: input.squash ?? before.isSquashed,
      removesSourceBranch: input.removeSourceBranch ?? before.removesSourceBranch,
      milestoneId: await milestoneIdAfter(tx, project, input.milestoneId, before),
    }
    const state = stateAfter(before, input.stateEvent)
    const isRetargeted = draft.targetBranch !== before.targetBranch
    if (state === 'opened' || (isRetargeted && before.state === 'opened' && state === undefined)) {
      await requireOwnBranches(tx, project, { ...draft, sourceBranch: before.sourceBranch })
    }
    const isSortedAnew = await setMetadata(tx, mergeRequestTables, project, before.id, input, before)
    const isReviewedAnew = await setReviewers(tx, project, before.id, input.reviewerIds)
    const isRewritten = isSortedAnew || isReviewedAnew || !isDeepStrictEqual(draft, draftOf(before))
    if (isRewritten) await updateMergeRequestRow(tx, before.id, draft)
    if (state !== undefined) await setMergeRequestState(tx, before.id, state, tx.actor!.id)
    if (!isRewritten && state === undefined) return before
    const mergeRequest = await getMergeRequest(tx, tx.actor, project, before.iid)
    if (isRewritten) await tx.recordEvent(eventOf('updated', mergeRequest))
    if (state !== undefined) await tx.recordEvent(eventOf(state === 'closed' ? 'closed' : 'reopened', mergeRequest))
    return mergeRequest
  },
)

export const removeMergeRequest = command(
  { name: 'removeMergeRequest', input: z.object(oneMergeRequest), permission: 'read_merge_request', subject },
  async (tx, { mergeRequestIid }) => {
    const mergeRequest = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
    await requirePermission(tx, tx.subject, 'remove_merge_request')
    await deleteMergeRequest(tx, mergeRequest.id)
    await tx.recordEvent(eventOf('removed', mergeRequest))
  },
)

/** `wip` says what `draft` says. */
const filterOf = <Input extends MergeRequestFilter & { readonly wip?: 'yes' | 'no' | undefined }>(input: Input) => ({
  ...input,
  draft: input.draft ?? (input.wip === undefined ? undefined : input.wip === 'yes'),
})

/** What is merged stays so. `undefined`: as it is. */
function stateAfter({ state }: MergeRequest, event: 'close' | 'reopen' | undefined) {
  if (event === 'close' && state === 'opened') return 'closed'
  if (event === 'reopen' && state === 'closed') return 'opened'
  return undefined
}

const draftOf = (mergeRequest: MergeRequest): MergeRequestDraft => ({
  title: mergeRequest.title,
  description: mergeRequest.description,
  targetBranch: mergeRequest.targetBranch,
  isDiscussionLocked: mergeRequest.isDiscussionLocked,
  isSquashed: mergeRequest.isSquashed,
  removesSourceBranch: mergeRequest.removesSourceBranch,
  milestoneId: mergeRequest.milestone?.id,
})

/** @throws DomainError `conflict`, for one branch with itself, and where another is open for the same two */
async function requireOwnBranches(
  tx: Tx,
  project: Project,
  branches: Pick<MergeRequest, 'sourceBranch' | 'targetBranch'>,
): Promise<void> {
  if (branches.sourceBranch === branches.targetBranch) {
    throw new DomainError({ code: 'conflict', reason: "You can't use same project/branch for source and target" })
  }
  const open = await findOpenIid(tx, project.id, branches)
  if (open === undefined) return
  const reason = `Another open merge request already exists for this source branch: !${open}`
  throw new DomainError({ code: 'conflict', reason })
}

async function setReviewers(tx: Tx, project: Project, id: number, userIds: readonly number[] | undefined) {
  if (userIds === undefined) return false
  return setPeople(tx, mergeRequestTables, 'merge_request_reviewers', project, id, userIds)
}

/** @throws DomainError `not_found` */
async function getMergeRequest(reading: Reading, actor: Actor, { id }: Project, iid: number): Promise<MergeRequest> {
  const mergeRequest = await findMergeRequest(reading, actor, id, iid)
  if (mergeRequest === undefined) throw notFound()
  return mergeRequest
}

/**
 * Its author, its assignees, and whoever may update any.
 *
 * @throws DomainError `forbidden`
 * @see spec/rest-part2-details.md 9.2
 */
async function requireUpdater(tx: Tx & OperationContext, project: Project, { author, assignees }: MergeRequest) {
  if (can(await standingOf(tx, tx.actor, project), 'update_merge_request')) return
  const isTheirs = [author, ...assignees].some((user) => user?.id === tx.actor!.id)
  if (!isTheirs) throw forbidden()
  await requirePermission(tx, project, 'update_own_merge_request')
}

function eventOf(what: 'created' | 'updated' | 'closed' | 'reopened' | 'removed', item: MergeRequest): DomainEvent {
  const { id, iid, projectId, title } = item
  return { type: `merge_request.${what}`, objectId: id, projectId, details: { iid, title } }
}
