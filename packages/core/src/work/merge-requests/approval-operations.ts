import { z } from 'zod'
import { can } from '../../base/access/can.ts'
import { requirePermission, standingOf } from '../../base/access/subject.ts'
import { DomainError, invalid, notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { InProject } from '../../base/operations/context.ts'
import { command, query } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import {
  type DescribedMergeRequest,
  isApprovableBy,
  isApprovedBy,
  isClosedToApproval,
  MAX_APPROVALS,
} from './merge-request.ts'
import { getMergeRequest } from './merge-request-changes.ts'
import { recordReview } from './record-review.ts'
import { deleteApprovals, insertApproval, replaceReviewStates, setReviewState } from './review-store.ts'

const oneMergeRequest = { project: namespaceRef, mergeRequestIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)

/** The approvals of a merge request, as one user sees them. */
export interface ShownApprovals {
  readonly mergeRequest: DescribedMergeRequest
  /** Whether the actor has approved it. */
  readonly hasApproved: boolean
  /** Whether the actor may approve it now. */
  readonly canApprove: boolean
}

export const getApprovals = query(
  {
    name: 'getApprovals',
    caller: 'anyone',
    input: z.object(oneMergeRequest),
    permission: 'read_merge_request',
    subject,
  },
  async (context, { mergeRequestIid }) =>
    shownApprovals(context, await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)),
)

/** Approves a merge request. If the caller is a reviewer, the review gets the state `approved`. */
export const approveMergeRequest = command(
  {
    name: 'approveMergeRequest',
    input: z.object({
      ...oneMergeRequest,
      /** The head of the source branch that the caller has seen. */
      sha: z.string().max(64).nullish(),
    }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, { mergeRequestIid, sha }): Promise<ShownApprovals> => {
    const before = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
    await requirePermission(tx, tx.subject, 'approve_merge_request')
    if (sha && sha !== before.sha) {
      throw new DomainError({ code: 'conflict', reason: `SHA does not match HEAD of source branch: ${before.sha}` })
    }
    // As on GitLab, a second approval is answered like a call without a sign-in.
    if (isClosedToApproval(before) || isApprovedBy(before, tx.actor)) throw new DomainError({ code: 'unauthenticated' })
    if (before.approvals.length >= MAX_APPROVALS) {
      throw invalid({ approvals: [`are too many (maximum is ${MAX_APPROVALS})`] })
    }
    await insertApproval(tx, before.id, tx.actor!.id)
    await setReviewState(tx, before.id, tx.actor!.id, 'approved')
    return shownApprovals(tx, await recordReview(tx, before, { what: 'approved', note: 'approved this merge request' }))
  },
)

/** Removes the caller's approval. */
export const unapproveMergeRequest = command(
  { name: 'unapproveMergeRequest', input: z.object(oneMergeRequest), permission: 'read_merge_request', subject },
  async (tx, { mergeRequestIid }): Promise<ShownApprovals> => {
    const before = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
    await requirePermission(tx, tx.subject, 'approve_merge_request')
    if (isClosedToApproval(before) || !isApprovedBy(before, tx.actor)) throw notFound()
    await deleteApprovals(tx, before.id, tx.actor!.id)
    await setReviewState(tx, before.id, tx.actor!.id, 'unapproved')
    return shownApprovals(
      tx,
      await recordReview(tx, before, { what: 'unapproved', note: 'unapproved this merge request' }),
    )
  },
)

/** Removes all approvals. Only bots of projects and groups may do so. */
export const resetApprovals = command(
  { name: 'resetApprovals', input: z.object(oneMergeRequest), permission: 'read_merge_request', subject },
  async (tx, { mergeRequestIid }): Promise<ShownApprovals> => {
    const before = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
    const mayApprove = can(await standingOf(tx, tx.actor, tx.subject), 'approve_merge_request')
    if (tx.actor!.botHome === undefined || !mayApprove || isClosedToApproval(before)) {
      throw new DomainError({ code: 'unauthenticated' })
    }
    if (before.approvals.length === 0) return shownApprovals(tx, before)
    await deleteApprovals(tx, before.id)
    await replaceReviewStates(tx, before.id, { from: 'approved', to: 'unapproved' })
    return shownApprovals(
      tx,
      await recordReview(tx, before, { what: 'approvals_reset', note: 'reset approvals of this merge request' }),
    )
  },
)

async function shownApprovals(context: InProject, mergeRequest: DescribedMergeRequest): Promise<ShownApprovals> {
  const standing = await standingOf(context, context.actor, context.subject)
  return {
    mergeRequest,
    hasApproved: isApprovedBy(mergeRequest, context.actor),
    canApprove: can(standing, 'approve_merge_request') && isApprovableBy(mergeRequest, context.actor),
  }
}
