import { DAY_MS, dayAt } from '../kit/day.ts'
import type { Core } from '../operations/context.ts'
import { inTransaction, serviceContext } from '../operations/transaction.ts'

/** The limit of one transaction, because other writers wait until it ends. */
const ISSUES_PER_TRANSACTION = 100

/** Records an event for each open issue that is due tomorrow, in UTC: once for each issue and due date. */
export async function announceDueIssues(core: Core): Promise<void> {
  while ((await announceSome(core)) === ISSUES_PER_TRANSACTION);
}

const announceSome = (core: Core): Promise<number> =>
  inTransaction(serviceContext(core), async (tx) => {
    const tomorrow = dayAt(tx.nowMs + DAY_MS)
    const due = tx.db
      .selectFrom('issues')
      .select('id')
      .where('due_date', '=', tomorrow)
      .where('state', '=', 'opened')
      .where((eb) => eb.or([eb('due_announced_for', 'is', null), eb('due_announced_for', '<>', tomorrow)]))
      .orderBy('id')
      .limit(ISSUES_PER_TRANSACTION)
    const rows = await tx.db
      .updateTable('issues')
      .set({ due_announced_for: tomorrow })
      .where('id', 'in', due)
      .returning(['id', 'iid', 'project_id'])
      .execute()
    // PostgreSQL returns updated rows in any order.
    for (const { id, iid, project_id } of rows.toSorted((a, b) => a.id - b.id)) {
      await tx.recordEvent({ type: 'issue.due', objectId: id, projectId: project_id, details: { iid } })
    }
    return rows.length
  })
