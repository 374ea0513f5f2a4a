import { subscriberOf } from '@penstock/runtime'
import type { Generated } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import { digestOf } from '../tokens/token-text.ts'

declare module '../../base/kit/tables.ts' {
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

/** The highest number of attempts in a period. */
export interface AttemptLimit {
  readonly count: number
  readonly periodMs: number
}

/** The limit of rows in the table; beyond it the oldest are deleted. */
const MAX_ROWS = 100_000

/**
 * Returns the time from which a further attempt is allowed; `undefined` if it is allowed now. It is allowed if the
 * attempts in the period are below the limit, both those with the same login and those from the same address.
 */
export async function findFreeTimeMs(
  { db, nowMs }: ReadContext,
  attempt: SignInAttempt,
  { count, periodMs }: AttemptLimit,
): Promise<number | undefined> {
  const { login_digest, address_digest } = digestsOf(attempt)
  const latestOf = async (column: 'login_digest' | 'address_digest', digest: string) => {
    const row = await db
      .selectFrom('password_attempts')
      .select('at_ms')
      .where(column, '=', digest)
      .where('at_ms', '>', nowMs - periodMs)
      .orderBy('at_ms', 'desc')
      .orderBy('id', 'desc')
      .offset(count - 1)
      .limit(1)
      .executeTakeFirst()
    return row === undefined ? [] : [row.at_ms + periodMs]
  }
  const times = [
    ...(await latestOf('login_digest', login_digest)),
    ...(await latestOf('address_digest', address_digest)),
  ]
  return times.length === 0 ? undefined : Math.max(...times)
}

export async function insertAttempt(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  attempt: SignInAttempt,
  { periodMs }: Pick<AttemptLimit, 'periodMs'>,
): Promise<number> {
  const { id } = await db
    .insertInto('password_attempts')
    .values({ ...digestsOf(attempt), at_ms: nowMs })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('password_attempts')
    .where((eb) => eb.or([eb('at_ms', '<=', nowMs - periodMs), eb('id', '<=', id - MAX_ROWS)]))
    .execute()
  return id
}

/** Deletes the attempts that are older than the period. */
export async function deleteExpiredAttempts(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  { periodMs }: Pick<AttemptLimit, 'periodMs'>,
): Promise<void> {
  await db
    .deleteFrom('password_attempts')
    .where('at_ms', '<=', nowMs - periodMs)
    .execute()
}

export async function deleteAttempt({ db }: Pick<Tx, 'db'>, id: number): Promise<void> {
  await db.deleteFrom('password_attempts').where('id', '=', id).execute()
}

const digestsOf = ({ login, address }: SignInAttempt) => ({
  login_digest: digestOf(login.trim().toLowerCase()),
  address_digest: digestOf(subscriberOf(address)),
})
