import { DAY_MS, dayAt } from '../../base/kit/day.ts'
import type { Core } from '../../base/operations/context.ts'
import { inTransaction, serviceContext } from '../../base/operations/transaction.ts'
import { markDueIssues } from './due-issue-store.ts'

/** The limit of one transaction, because other writers wait until it ends. */
const ISSUES_PER_TRANSACTION = 100

/** Records an event for each open issue that is due tomorrow, in UTC: once for each issue and due date. */
export async function announceDueIssues(core: Core): Promise<void> {
  while ((await announceSome(core)) === ISSUES_PER_TRANSACTION);
}

const announceSome = (core: Core): Promise<number> =>
  inTransaction(serviceContext(core), async (tx) => {
    const issues = await markDueIssues(tx, dayAt(tx.nowMs + DAY_MS), ISSUES_PER_TRANSACTION)
    for (const { id, iid, projectId } of issues) {
      await tx.recordEvent({ type: 'issue.due', objectId: id, projectId, details: { iid } })
    }
    return issues.length
  })
