import { z } from 'zod'
import { DomainError, forbidden } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { command } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { isApprovedBy, isClosedToApproval } from './merge-request.ts'
import { getMergeRequest, getMergeRequestToUpdate } from './merge-request-changes.ts'
import { recordReview } from './record-review.ts'
import { deleteApprovals, setReviewState } from './review-store.ts'

const oneMergeRequest = { project: namespaceRef, mergeRequestIid: z.int() }
const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)

/** Gives the caller's review the state `requested_changes`, and removes the caller's approval. */
export const requestChanges = command(
  { name: 'requestChanges', input: z.object(oneMergeRequest), permission: 'approve_merge_request', subject },
  async (tx, { mergeRequestIid }) => {
    const before = await getMergeRequest(tx, tx.actor, tx.subject, mergeRequestIid)
    if (isClosedToApproval(before)) throw forbidden()
    const { id } = tx.actor!
    requireReviewer(before.reviewers, id)
    const removesApproval = isApprovedBy(before, tx.actor)
    if (removesApproval) await deleteApprovals(tx, before.id, id)
    await setReviewState(tx, before.id, id, 'requested_changes')
    return recordReview(tx, before, { what: removesApproval ? 'unapproved' : 'updated', note: 'requested changes' })
  },
)

/** Asks a reviewer for another review: the review starts again, without the reviewer's approval. */
export const requestReviewAgain = command(
  {
    name: 'requestReviewAgain',
    input: z.object({ ...oneMergeRequest, userId: z.int() }),
    permission: 'read_merge_request',
    subject,
  },
  async (tx, { userId, ...input }) => {
    const before = await getMergeRequestToUpdate(tx, input)
    if (isClosedToApproval(before)) throw forbidden()
    const { username } = requireReviewer(before.reviewers, userId)
    await deleteApprovals(tx, before.id, userId)
    await setReviewState(tx, before.id, userId, 'unreviewed')
    const note = `requested review from @${username}`
    return recordReview(tx, before, { what: 'updated', note, reRequestedId: userId })
  },
)

/** @throws DomainError `refused` */
function requireReviewer<Reviewer extends { readonly id: number }>(reviewers: readonly Reviewer[], userId: number) {
  const reviewer = reviewers.find(({ id }) => id === userId)
  if (reviewer === undefined) throw new DomainError({ code: 'refused', message: 'Reviewer not found' })
  return reviewer
}
