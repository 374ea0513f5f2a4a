import { type Log, RepeatingTask } from '@penstock/runtime'
import { sweepRepositories } from './base/git/sweep-repositories.ts'
import { undoUnfinishedChanges } from './base/git/undo-change.ts'
import { DAY_MS } from './base/kit/day.ts'
import { deleteExpiredCallCounts } from './base/operations/call-count-store.ts'
import type { Core, Tx } from './base/operations/context.ts'
import { deleteEventsBefore } from './base/operations/event.ts'
import { deleteExpiredSpamLogs } from './base/spam/spam-log-store.ts'
import { deleteScheduledEnvironments } from './ci/environments/environment-operations.ts'
import { measureRepositories } from './code/repositories/measure-repositories.ts'
import { deleteExpiredCodes } from './identity/oauth/code-store.ts'
import { deleteExpiredDeviceCodes } from './identity/oauth/device-code-store.ts'
import { deleteExpiredOAuthTokens } from './identity/oauth/oauth-token-store.ts'
import { deleteRetiredSigningKeys } from './identity/oauth/signing-key-store.ts'
import { deleteExpiredAttempts } from './identity/sessions/attempt-store.ts'
import { deleteExpiredSessions } from './identity/sessions/session-store.ts'
import { attemptLimitOf } from './identity/sessions/verify-sign-in.ts'
import { announceExpiringTokens } from './identity/tokens/expiring-tokens.ts'
import { deleteUnconfirmedEmails } from './identity/users/email-store.ts'
import { deleteExpiredHookEvents } from './instance/hooks/hook-payload-store.ts'
import { sweepHookLog } from './instance/hooks/sweep-hook-log.ts'
import { announceDueIssues } from './work/issues/due-issues.ts'
import { mergeDueRequests } from './work/merge-requests/automatic-merges.ts'
import { deleteNotificationsBefore } from './work/notifications/notification-store.ts'

export interface Retention {
  readonly eventDays: number
}

const EVERY_MS = 3_600_000
/** Longer than mails are tried. */
const NOTIFICATIONS_MS = 7 * DAY_MS
const UNCONFIRMED_EMAILS_MS = 30 * DAY_MS
/** The limit of one transaction, because other writers wait until it ends. */
const EVENTS_PER_TRANSACTION = 1_000

/** Starts a sweep now, because the process may not live for an hour, and then one every hour until `end` is called. */
export function startSweeping(core: Core, retention: Retention, log: Log): RepeatingTask {
  const pace = { everyMs: EVERY_MS, firstAfterMs: 0, clock: core.clock, log }
  return new RepeatingTask('sweep.failed', pace, () => sweep(core, retention))
}

/**
 * Deletes expired rows and removed repositories, announces tokens that expire and issues that are due soon, deletes old review
 * apps, undoes unfinished changes of repositories, and finishes automatic merges. Everything that grows is limited here, even if
 * the service gets no requests.
 */
export async function sweep(core: Core, { eventDays }: Retention): Promise<void> {
  const write = <Result>(work: (tx: Pick<Tx, 'db' | 'nowMs'>) => Promise<Result>) =>
    core.db.write((db) => work({ db, nowMs: core.clock.nowMs() }))
  const attempts = await attemptLimitOf(core)
  const deletions = [
    deleteExpiredSessions,
    (tx: Pick<Tx, 'db' | 'nowMs'>) => deleteExpiredAttempts(tx, attempts),
    deleteExpiredCodes,
    deleteExpiredOAuthTokens,
    deleteRetiredSigningKeys,
    deleteExpiredDeviceCodes,
    deleteExpiredSpamLogs,
    deleteExpiredCallCounts,
    deleteExpiredHookEvents,
    (tx: Pick<Tx, 'db' | 'nowMs'>) => deleteNotificationsBefore(tx, tx.nowMs - NOTIFICATIONS_MS),
    (tx: Pick<Tx, 'db' | 'nowMs'>) => deleteUnconfirmedEmails(tx, tx.nowMs - UNCONFIRMED_EMAILS_MS),
  ]
  for (const deleteExpired of deletions) await write(deleteExpired)
  const beforeMs = core.clock.nowMs() - eventDays * DAY_MS
  while ((await write((tx) => deleteEventsBefore(tx, beforeMs, EVENTS_PER_TRANSACTION))) === EVENTS_PER_TRANSACTION);
  await sweepHookLog(core)
  await announceExpiringTokens(core)
  await announceDueIssues(core)
  await deleteScheduledEnvironments(core)
  await undoUnfinishedChanges(core)
  await mergeDueRequests(core)
  await sweepRepositories(core)
  await measureRepositories(core)
}
