import { type Log, RepeatingTask } from '@penstock/runtime'
import { deleteUnconfirmedEmails } from './emails/email-store.ts'
import { deleteScheduledEnvironments } from './environments/environment-operations.ts'
import { sweepRepositories } from './git/sweep-repositories.ts'
import { undoUnfinishedChanges } from './git/undo-change.ts'
import { deleteExpiredHookEvents } from './hooks/hook-payload-store.ts'
import { sweepHookLog } from './hooks/sweep-hook-log.ts'
import { announceDueIssues } from './issues/due-issues.ts'
import { DAY_MS } from './kit/day.ts'
import { mergeDueRequests } from './merge-requests/automatic-merges.ts'
import { deleteNotificationsBefore } from './notifications/notification-store.ts'
import { deleteExpiredCodes } from './oauth/code-store.ts'
import { deleteExpiredDeviceCodes } from './oauth/device-code-store.ts'
import { deleteExpiredOAuthTokens } from './oauth/oauth-token-store.ts'
import { deleteRetiredSigningKeys } from './oauth/signing-key-store.ts'
import { deleteExpiredCallCounts } from './operations/call-count-store.ts'
import type { Core, Tx } from './operations/context.ts'
import { deleteEventsBefore } from './operations/event.ts'
import { measureRepositories } from './repositories/measure-repositories.ts'
import { deleteExpiredAttempts } from './sessions/attempt-store.ts'
import { deleteExpiredSessions } from './sessions/session-store.ts'
import { attemptLimitOf } from './sessions/verify-sign-in.ts'
import { deleteExpiredSpamLogs } from './spam/spam-log-store.ts'
import { announceExpiringTokens } from './tokens/expiring-tokens.ts'

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
