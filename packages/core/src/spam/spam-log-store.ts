import type { Generated } from 'kysely'
import type { Tx } from '../kit/context.ts'
import { DAY_MS } from '../kit/day.ts'
import type { User } from '../users/user.ts'
import type { SpamSuspect } from './spam-check.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    spam_logs: SpamLogsTable
  }
}

/** Challenges that have not been answered yet. */
interface SpamLogsTable {
  id: Generated<number>
  user_id: number
  kind: SpamSuspect['kind']
  at_ms: number
}

/** So long an answer is waited for. */
const ANSWERED_WITHIN_MS = DAY_MS
/** Of the table; beyond it the oldest are forgotten. */
const MAX_ROWS = 100_000

export async function insertSpamLog(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  { id: userId }: Pick<User, 'id'>,
  kind: SpamSuspect['kind'],
): Promise<number> {
  const { id } = await db
    .insertInto('spam_logs')
    .values({ user_id: userId, kind, at_ms: nowMs })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('spam_logs')
    .where('id', '<=', id - MAX_ROWS)
    .execute()
  return id
}

/** Ends a challenge of that user and kind. False: there is none. */
export async function consumeSpamLog(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  { id: userId }: Pick<User, 'id'>,
  kind: SpamSuspect['kind'],
  { spamLogId }: { readonly spamLogId: number },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('spam_logs')
    .where('id', '=', spamLogId)
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .where('at_ms', '>', nowMs - ANSWERED_WITHIN_MS)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Those that nobody can answer any more. */
export async function deleteExpiredSpamLogs({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db
    .deleteFrom('spam_logs')
    .where('at_ms', '<=', nowMs - ANSWERED_WITHIN_MS)
    .execute()
}
