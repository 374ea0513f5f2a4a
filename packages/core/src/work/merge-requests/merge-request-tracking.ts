import { z } from 'zod'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { issuableOperations } from '../issues/issuable-operations.ts'
import { subscribedItems } from '../issues/participants.ts'
import type { MergeRequest, Reviewer } from './merge-request.ts'
import { getMergeRequest, mergeRequestEvents } from './merge-request-changes.ts'
import { shownMergeRequest } from './merge-request-details.ts'
import { mergeRequestTables } from './merge-request-store.ts'

/** The participants, subscriptions and time of merge requests. */
export const mergeRequestTracking = issuableOperations({
  noun: 'MergeRequest',
  key: 'mergeRequestIid',
  tables: mergeRequestTables,
  read: 'read_merge_request',
  subscribe: 'subscribe_merge_request',
  change: 'update_merge_request',
  get: getMergeRequest,
  show: shownMergeRequest,
  events: mergeRequestEvents,
})

/** Returns for each merge request whether the actor is subscribed to it. */
export const subscriptionsToMergeRequests = unscopedBatchQuery(
  { name: 'subscriptionsToMergeRequests', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]): Promise<boolean[]> => {
    const subscribed = await subscribedItems(context, mergeRequestTables, context.actor, mergeRequests)
    return mergeRequests.map(({ id }) => subscribed.has(id))
  },
)

export const listMergeRequestReviewers = query(
  {
    name: 'listMergeRequestReviewers',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, mergeRequestIid: z.int() }),
    permission: 'read_merge_request',
    subject: (context, { project }) => getProject(context, project),
  },
  async (context, { mergeRequestIid }): Promise<readonly Reviewer[]> =>
    (await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)).reviewers,
)
