import type { Generated } from 'kysely'
import { DAY_MS } from '../kit/day.ts'
import type { SpamSuspect } from '../model/spam-check.ts'
import type { User } from '../model/user.ts'
import type { Tx } from '../operations/context.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    spam_logs: SpamLogsTable
  }
}

/** The challenges that have not been solved yet. */
interface SpamLogsTable {
  id: Generated<number>
  user_id: number
  kind: SpamSuspect['kind']
  at_ms: number
}

/** How long a challenge can be solved. */
const SOLVABLE_FOR_MS = DAY_MS
/** The limit of rows in the table; beyond it the oldest are deleted. */
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

/** Deletes a challenge of the user and kind. Returns whether there was one. */
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
    .where('at_ms', '>', nowMs - SOLVABLE_FOR_MS)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Deletes challenges that can no longer be solved. */
export async function deleteExpiredSpamLogs({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db
    .deleteFrom('spam_logs')
    .where('at_ms', '<=', nowMs - SOLVABLE_FOR_MS)
    .execute()
}
