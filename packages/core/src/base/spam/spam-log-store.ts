import type { Generated } from 'kysely'
import { DAY_MS } from '../kit/day.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { SpamSuspect } from '../model/spam-check.ts'
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
  text_hash: string
  at_ms: number
}

/** How long a challenge can be solved. */
const SOLVABLE_FOR_MS = DAY_MS
/** The limit of rows in the table; beyond it the oldest are deleted. */
const MAX_ROWS = 100_000

/** A text that was challenged, and the user who sent it. */
interface ChallengedText {
  readonly userId: number
  readonly kind: SpamSuspect['kind']
  /** The hash of the title, the description and the files. */
  readonly textHash: string
}

export async function insertSpamLog(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  { userId, kind, textHash }: ChallengedText,
): Promise<number> {
  const { id } = await db
    .insertInto('spam_logs')
    .values({ user_id: userId, kind, text_hash: textHash, at_ms: nowMs })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('spam_logs')
    .where('id', '<=', id - MAX_ROWS)
    .execute()
  return id
}

/** Returns whether a challenge was for this text of this user and can still be solved. */
export async function isOpenSpamLog(
  { db, nowMs }: ReadContext,
  id: number,
  { userId, kind, textHash }: ChallengedText,
): Promise<boolean> {
  const row = await db
    .selectFrom('spam_logs')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .where('text_hash', '=', textHash)
    .where('at_ms', '>', nowMs - SOLVABLE_FOR_MS)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes a challenge, because it was solved. Returns whether it was still there. */
export async function deleteSpamLog({ db }: Pick<Tx, 'db'>, id: number): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('spam_logs').where('id', '=', id).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Deletes challenges that can no longer be solved. */
export async function deleteExpiredSpamLogs({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db
    .deleteFrom('spam_logs')
    .where('at_ms', '<=', nowMs - SOLVABLE_FOR_MS)
    .execute()
}
