import { type Generated, type Selectable, sql } from 'kysely'
import { notFound } from '../../base/kit/domain-error.ts'
import { countRows, deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { Email } from './email.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    emails: EmailsTable
  }
}

interface EmailsTable {
  id: Generated<number>
  user_id: number
  /** In lower case. */
  email: string
  confirmed_at_ms: number | null
  created_at_ms: number
}

type Writes = Pick<Tx, 'db' | 'nowMs'>

const emailOf = (row: Selectable<EmailsTable>): Email => ({
  id: row.id,
  userId: row.user_id,
  email: row.email,
  confirmedAtMs: row.confirmed_at_ms ?? undefined,
  createdAtMs: row.created_at_ms,
})

/** Lists the addresses of a user, ordered by id. */
export async function listEmails({ db }: ReadContext, userId: number): Promise<Email[]> {
  const rows = await db.selectFrom('emails').selectAll().where('user_id', '=', userId).orderBy('id').execute()
  return rows.map(emailOf)
}

export const countEmails = (context: Pick<ReadContext, 'db'>, userId: number): Promise<number> =>
  countRows(context, 'emails', (eb) => eb('user_id', '=', userId))

/** @throws DomainError `not_found`, also for an address of another user */
export async function getEmail({ db }: ReadContext, userId: number, id: number): Promise<Email> {
  const rows = db.selectFrom('emails').selectAll().where('id', '=', id).where('user_id', '=', userId)
  const row = await rows.executeTakeFirst()
  if (row === undefined) throw notFound('Email')
  return emailOf(row)
}

export async function findEmail({ db }: ReadContext, id: number): Promise<Email | undefined> {
  const row = await db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirst()
  return row && emailOf(row)
}

/** Returns whether a user has confirmed an address. `email` is in lower case. */
export async function isVerifiedEmail({ db }: ReadContext, userId: number, email: string): Promise<boolean> {
  const rows = db.selectFrom('emails').select('id').where('user_id', '=', userId).where('email', '=', email)
  return (await rows.where('confirmed_at_ms', 'is not', null).executeTakeFirst()) !== undefined
}

/** Returns whether an address belongs to a user who has confirmed it, or is one that this user has added. */
export async function isTakenEmail({ db }: ReadContext, userId: number, email: string): Promise<boolean> {
  const row = await db
    .selectFrom('emails')
    .select('id')
    .where('email', '=', email)
    .where((eb) => eb.or([eb('confirmed_at_ms', 'is not', null), eb('user_id', '=', userId)]))
    .executeTakeFirst()
  return row !== undefined
}

/** Inserts an address. @throws the database's error if the user has it, or if it is confirmed and another user has confirmed it */
export async function insertEmail(
  tx: Writes,
  { userId, email, isConfirmed }: { readonly userId: number; readonly email: string; readonly isConfirmed: boolean },
): Promise<Email> {
  const columns = { user_id: userId, email: email.toLowerCase(), created_at_ms: tx.nowMs }
  if (isConfirmed) await deleteClaims(tx, email.toLowerCase())
  return emailOf(await insertRow(tx, 'emails', { ...columns, confirmed_at_ms: isConfirmed ? tx.nowMs : null }))
}

/** Confirms an address. Other users who have added it and not confirmed it lose it. */
export async function confirmEmailRow(tx: Writes, { id, email }: Email): Promise<Email> {
  await deleteClaims(tx, email, id)
  return emailOf(await updateRow(tx, 'emails', id, { confirmed_at_ms: tx.nowMs }))
}

async function deleteClaims({ db }: Writes, email: string, exceptId = 0): Promise<void> {
  await db
    .deleteFrom('emails')
    .where('email', '=', email)
    .where('confirmed_at_ms', 'is', null)
    .where('id', '<>', exceptId)
    .execute()
}

/** Deletes an address. Notifications that went to it go to the primary one. */
export async function deleteEmail(tx: Writes, { id, userId, email }: Email): Promise<void> {
  await deleteRow(tx, 'emails', id)
  await tx.db
    .updateTable('notification_settings')
    .set({ email: null })
    .where('user_id', '=', userId)
    .where('email', '=', email)
    .execute()
}

/** Replaces the primary address of a user: the former one is deleted, and the new one is confirmed. */
export async function replacePrimaryEmail(
  tx: Writes & ReadContext,
  userId: number,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const emails = await listEmails(tx, userId)
  const [former, known] = [from, to].map((address) => emails.find(({ email }) => email === address))
  if (former !== undefined) await deleteEmail(tx, former)
  if (known === undefined) await insertEmail(tx, { userId, email: to, isConfirmed: true })
  else if (known.confirmedAtMs === undefined) await confirmEmailRow(tx, known)
}

/** Deletes at most 1,000 addresses that were added before `beforeMs` and never confirmed. */
export async function deleteUnconfirmedEmails({ db }: Writes, beforeMs: number): Promise<void> {
  const old = db
    .selectFrom('emails')
    .select('id')
    .where(sql<boolean>`confirmed_at_ms is null`)
    .where('created_at_ms', '<', beforeMs)
    .limit(1_000)
  await db.deleteFrom('emails').where('id', 'in', old).execute()
}
