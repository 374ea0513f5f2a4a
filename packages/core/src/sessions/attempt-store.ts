import { subscriberOf } from '@penstock/runtime'
import type { Generated } from 'kysely'
import type { ReadContext } from '../kit/store-context.ts'
import type { Tx } from '../operations/context.ts'
import { digestOf } from '../tokens/token-text.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    password_attempts: PasswordAttemptsTable
  }
}

interface PasswordAttemptsTable {
  id: Generated<number>
  /** Digests keep the columns short, and store no password that was typed into the wrong field. */
  login_digest: string
  address_digest: string
  at_ms: number
}

export interface SignInAttempt {
  /** The name or e-mail address of a user. */
  readonly login: string
  readonly password: string
  /** The IP address of the caller. */
  readonly address: string
}

export const MAX_ATTEMPTS = 10
export const WINDOW_MS = 10 * 60_000
/** The limit of rows in the table; beyond it the oldest are deleted. */
const MAX_ROWS = 100_000

/**
 * Returns two lists of times of the newest attempts in the window: those with the same login, and those from the same
 * address. Each has at most `MAX_ATTEMPTS` times, newest first.
 */
export async function newestAttempts(
  { db, nowMs }: ReadContext,
  attempt: SignInAttempt,
): Promise<[ofLogin: number[], ofAddress: number[]]> {
  const times = async (column: 'login_digest' | 'address_digest', digest: string): Promise<number[]> => {
    const rows = await db
      .selectFrom('password_attempts')
      .select('at_ms')
      .where(column, '=', digest)
      .where('at_ms', '>', nowMs - WINDOW_MS)
      .orderBy('at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(MAX_ATTEMPTS)
      .execute()
    return rows.map((row) => row.at_ms)
  }
  const { login_digest, address_digest } = digestsOf(attempt)
  return [await times('login_digest', login_digest), await times('address_digest', address_digest)]
}

export async function insertAttempt({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, attempt: SignInAttempt): Promise<number> {
  const { id } = await db
    .insertInto('password_attempts')
    .values({ ...digestsOf(attempt), at_ms: nowMs })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('password_attempts')
    .where((eb) => eb.or([eb('at_ms', '<=', nowMs - WINDOW_MS), eb('id', '<=', id - MAX_ROWS)]))
    .execute()
  return id
}

/** Deletes the attempts that are older than the window. */
export async function deleteExpiredAttempts({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db
    .deleteFrom('password_attempts')
    .where('at_ms', '<=', nowMs - WINDOW_MS)
    .execute()
}

export async function deleteAttempt({ db }: Pick<Tx, 'db'>, id: number): Promise<void> {
  await db.deleteFrom('password_attempts').where('id', '=', id).execute()
}

const digestsOf = ({ login, address }: SignInAttempt) => ({
  login_digest: digestOf(login.trim().toLowerCase()),
  address_digest: digestOf(subscriberOf(address)),
})
