import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { can } from '../../base/access/can.ts'
import { requirePermission, standingOf } from '../../base/access/subject.ts'
import { branchName } from '../../base/git/branch-name.ts'
import { DomainError, forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import { clearable } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import type { InProject, OperationContext, Tx } from '../../base/operations/context.ts'
import { comparedMembers, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { setTextMentions } from '../../code/mentions/issue-mention-store.ts'
import { issueReferencesIn } from '../../code/mentions/issue-references.ts'
import { comparedIssuable, issuableChanges, issuableFields, issuableTitle, people } from '../issues/issuable.ts'
import { type MetadataInput, milestoneIdAfter, setMetadata } from '../issues/issuable-changes.ts'
import { changeEstimate } from '../issues/time-estimate.ts'
import { addSystemNotes } from '../notes/system-notes.ts'
import { type DescribedMergeRequest, isAuthorOrAssignee, type MergeRequest } from './merge-request.ts'
import { findMergeRequest } from './merge-request-list-store.ts'
import {
  existingBranches,
  findOpenIid,
  type MergeRequestDraft,
  mergeRequestTables,
  setMergeRequestState,
  updateMergeRequestRow,
} from './merge-request-store.ts'
import { setReviewers } from './review-store.ts'

/** Fields that can be set when a merge request is created and when it is updated. */
export const fields = {
  ...issuableFields,
  reviewerIds: people,
  squash: clearable(z.boolean()),
  removeSourceBranch: clearable(z.boolean()),
}

export const changes = {
  title: issuableTitle.optional(),
  targetBranch: branchName.optional(),
  /** Such as `3h 30m`; an empty text or 0 removes the estimate. */
  timeEstimate: z.string().max(255).optional(),
  ...fields,
  ...issuableChanges,
}

type Changes = Partial<z.output<z.ZodObject<typeof changes>>> & MetadataInput
type ProjectTx = Tx & InProject

/** @throws DomainError `not_found`, `forbidden` */
export async function getMergeRequestToUpdate(
  tx: InProject,
  { mergeRequestIid }: { readonly mergeRequestIid: number },
) {
  const before = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
  await requireUpdater(tx, tx.subject, before)
  return before
}

export async function changeMergeRequest(
  tx: ProjectTx,
  before: DescribedMergeRequest,
  input: Changes,
): Promise<DescribedMergeRequest> {
  const project = tx.subject
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
  if (isRetargeted) await requireBranches(tx, project, { targetBranch: draft.targetBranch })
  if (state === 'opened' || (isRetargeted && before.state === 'opened' && state === undefined)) {
    await requireUniqueBranches(tx, project, { ...draft, sourceBranch: before.sourceBranch })
  }
  const hasNewMetadata = await setMetadata(tx, mergeRequestTables, project, before.id, input, before)
  const hasNewReviewers = await setReviewers(tx, project, before.id, input.reviewerIds)
  const hasNewEstimate = await changeEstimate(tx, mergeRequestTables, before, input.timeEstimate)
  const isUpdated = hasNewMetadata || hasNewReviewers || hasNewEstimate || !isDeepStrictEqual(draft, draftOf(before))
  if (isUpdated) await updateMergeRequestRow(tx, before.id, draft)
  if (draft.title !== before.title || draft.description !== before.description) {
    await recordTextMentions(tx, before.id, draft)
  }
  if (state !== undefined) await setMergeRequestState(tx, before.id, state, tx.actor!.id)
  if (!isUpdated && state === undefined) return before
  const mergeRequest = await getMergeRequest(tx, tx.actor, project, before.iid)
  await addSystemNotes(tx, 'merge_request', before, mergeRequest)
  const change = { before, after: mergeRequest, projectId: project.id }
  if (isUpdated) await recordChange(tx, mergeRequestEvents, 'updated', change)
  if (state !== undefined) {
    await recordChange(tx, mergeRequestEvents, state === 'closed' ? 'closed' : 'reopened', change)
  }
  return mergeRequest
}

/** Records which issues the title and the description of a merge request mention. */
export async function recordTextMentions(
  tx: ProjectTx,
  mergeRequestId: number,
  { title, description = '' }: Pick<MergeRequestDraft, 'title' | 'description'>,
): Promise<void> {
  const references = issueReferencesIn(`${title}\n${description}`, tx.core.settings.externalUrl)
  await setTextMentions(tx, tx.subject, mergeRequestId, references)
}

/** Returns the state after the event, or `undefined` if it does not change. A merged merge request stays merged. */
function stateAfter({ state }: MergeRequest, event: 'close' | 'reopen' | undefined) {
  if (event === 'close' && state === 'opened') return 'closed'
  if (event === 'reopen' && state === 'closed') return 'opened'
  return undefined
}

const draftOf = (mergeRequest: DescribedMergeRequest): MergeRequestDraft => ({
  title: mergeRequest.title,
  description: mergeRequest.description,
  targetBranch: mergeRequest.targetBranch,
  isDiscussionLocked: mergeRequest.isDiscussionLocked,
  isSquashed: mergeRequest.isSquashed,
  removesSourceBranch: mergeRequest.removesSourceBranch,
  milestoneId: mergeRequest.milestone?.id,
})

/** @throws DomainError `conflict` if both branches are the same, or another merge request is open for this pair */
export async function requireUniqueBranches(
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

/** @throws DomainError `invalid` for each branch that does not exist */
export async function requireBranches(
  tx: Tx,
  { id }: Pick<Project, 'id'>,
  branches: { readonly sourceBranch?: string; readonly targetBranch: string },
): Promise<void> {
  const { sourceBranch, targetBranch } = branches
  const existing = await existingBranches(
    tx,
    id,
    Object.values({ sourceBranch, targetBranch }).filter((name) => name !== undefined),
  )
  const errors = Object.entries({ sourceBranch, targetBranch }).filter(
    ([, name]) => name !== undefined && !existing.has(name),
  )
  if (errors.length > 0) throw invalid(Object.fromEntries(errors.map(([key]) => [key, ['does not exist']])))
}

/** @throws DomainError `not_found` */
export async function getMergeRequest(
  context: ReadContext,
  actor: Actor,
  { id }: Project,
  iid: number,
): Promise<DescribedMergeRequest> {
  const mergeRequest = await findMergeRequest(context, actor, id, iid)
  if (mergeRequest === undefined) throw notFound()
  return mergeRequest
}

/**
 * Requires the actor to be the author or an assignee, or to have the permission to update any merge request.
 *
 * @throws DomainError `forbidden`
 */
async function requireUpdater(tx: ReadContext & OperationContext, project: Project, mergeRequest: MergeRequest) {
  if (can(await standingOf(tx, tx.actor, project), 'update_merge_request')) return
  if (!isAuthorOrAssignee(mergeRequest, tx.actor!.id)) throw forbidden()
  await requirePermission(tx, project, 'update_own_merge_request')
}

export const mergeRequestEvents: RecordedKind<DescribedMergeRequest> = {
  noun: 'merge_request',
  compared: {
    ...comparedIssuable,
    ...comparedMembers<DescribedMergeRequest>()(
      'iid',
      'state',
      'sourceBranch',
      'targetBranch',
      'isDraft',
      'isSquashed',
      'removesSourceBranch',
      'mergedAtMs',
      'mergeCommitSha',
      'squashCommitSha',
    ),
    reviewers: ({ reviewers }) => reviewers.map(({ id, reviewState }) => ({ id, state: reviewState })),
    approvedByIds: ({ approvals }) => approvals.map(({ user }) => user.id),
    mergedById: ({ mergedBy }) => mergedBy?.id,
  },
  detailsOf: ({ iid, title }) => ({ iid, title }),
}
