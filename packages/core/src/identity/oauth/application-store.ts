import type { Selectable } from 'kysely'
import { always } from '../../base/kit/conditions.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { countRows, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import {
  type Application,
  type ApplicationDraft,
  applicationDraft,
  applicationFields,
  toApplication,
} from './application.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    oauth_applications: ApplicationsTable
  }
}

interface ApplicationsTable extends ColumnsOf<typeof applicationFields> {
  secret_digest: string
  created_at_ms: number
}

export const applicationOf = (row: Selectable<ApplicationsTable>): Application =>
  toApplication(fromRow(applicationFields, row))

interface NewApplication extends Pick<Application, 'uid' | 'isTrusted'> {
  readonly secretDigest: string
  readonly draft: ApplicationDraft
}

export async function insertApplication(
  tx: Tx,
  { uid, secretDigest, draft, isTrusted }: NewApplication,
): Promise<Application> {
  const columns = { uid, secret_digest: secretDigest, ...toRow(applicationDraft, draft), is_trusted: Number(isTrusted) }
  return applicationOf(await insertRow(tx, 'oauth_applications', { ...columns, created_at_ms: tx.nowMs }))
}

export async function findAllApplications({ db }: ReadContext): Promise<Application[]> {
  const rows = await db.selectFrom('oauth_applications').selectAll().orderBy('id').execute()
  return rows.map(applicationOf)
}

export const countApplications = (context: ReadContext): Promise<number> =>
  countRows(context, 'oauth_applications', () => always)

export async function findApplication(context: ReadContext, uid: string): Promise<Application | undefined> {
  return (await findApplicationWithDigest(context, uid))?.application
}

export async function findApplicationById({ db }: ReadContext, id: number): Promise<Application | undefined> {
  const row = await db.selectFrom('oauth_applications').selectAll().where('id', '=', id).executeTakeFirst()
  return row && applicationOf(row)
}

export async function findApplicationWithDigest(
  { db }: ReadContext,
  uid: string,
): Promise<{ application: Application; secretDigest: string } | undefined> {
  const row = await db.selectFrom('oauth_applications').selectAll().where('uid', '=', uid).executeTakeFirst()
  return row && { application: applicationOf(row), secretDigest: row.secret_digest }
}

/** Replaces the digest of the secret. @throws DomainError `not_found` */
export async function updateSecretDigest({ db }: Tx, id: number, secretDigest: string): Promise<Application> {
  const row = await db
    .updateTable('oauth_applications')
    .set({ secret_digest: secretDigest })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw notFound('Application')
  return applicationOf(row)
}

export async function updateNameAndAddress(
  tx: Tx,
  id: number,
  { name, redirectUri }: Pick<ApplicationDraft, 'name' | 'redirectUri'>,
): Promise<void> {
  await updateRow(tx, 'oauth_applications', id, { name, redirect_uris: redirectUri })
}

/** Deletes an application with its codes and tokens. @throws DomainError `not_found` */
export async function deleteApplication({ db }: Tx, id: number): Promise<void> {
  const row = await db.deleteFrom('oauth_applications').where('id', '=', id).returning('id').executeTakeFirst()
  if (row === undefined) throw notFound('Application')
}
