import { z } from 'zod'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { issuableOperations } from './issuable-operations.ts'
import type { Issue } from './issue.ts'
import { getIssue, issueEvents, shownIssue } from './issue-changes.ts'
import { issueTables } from './issue-store.ts'
import { subscribedItems } from './participants.ts'

/** The participants, subscriptions and time of issues. */
export const issueTracking = issuableOperations({
  noun: 'Issue',
  key: 'issueIid',
  tables: issueTables,
  read: 'read_issue',
  subscribe: 'subscribe_issue',
  change: 'update_issue',
  get: getIssue,
  show: (context, _project, issue) => shownIssue(context, issue),
  events: issueEvents,
})

/** Returns for each issue whether the actor is subscribed to it. */
export const subscriptionsToIssues = unscopedBatchQuery(
  { name: 'subscriptionsToIssues', input: z.object({}) },
  async (context, issues: readonly Issue[]): Promise<boolean[]> => {
    const subscribed = await subscribedItems(context, issueTables, context.actor, issues)
    return issues.map(({ id }) => subscribed.has(id))
  },
)
