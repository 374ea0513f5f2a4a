import type { CallContext, InProject, Tx } from '../../base/operations/context.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { addSystemNote } from '../notes/system-notes.ts'
import type { DescribedMergeRequest } from './merge-request.ts'
import { getMergeRequest, mergeRequestEvents } from './merge-request-changes.ts'
import { touchMergeRequest } from './merge-request-store.ts'

interface ReviewEvent {
  /** The second part of the type of the event. */
  readonly what: string
  /** The text of the system note. */
  readonly note: string
  /** The reviewer who is asked for another review. */
  readonly reRequestedId?: number
}

/** Records a stored change of approvals or reviews: a system note, the time of the change, and an event. */
export async function recordReview(
  tx: CallContext & Tx & InProject,
  before: DescribedMergeRequest,
  { what, note, reRequestedId }: ReviewEvent,
): Promise<DescribedMergeRequest> {
  await addSystemNote(tx, 'merge_request', before, note)
  await touchMergeRequest(tx, before.id)
  const after = await getMergeRequest(tx, tx.actor, tx.subject, before.iid)
  const details = { ...mergeRequestEvents.detailsOf!(after), ...(reRequestedId !== undefined && { reRequestedId }) }
  await recordChange(tx, mergeRequestEvents, what, { before, after, projectId: tx.subject.id, details })
  return after
}
