import type { Generated, Selectable } from 'kysely'
import { notFound } from '../kit/domain-error.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { Tx } from '../operations/context.ts'
import type { Application } from './application.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    oauth_applications: ApplicationsTable
  }
}

interface ApplicationsTable {
  id: Generated<number>
  uid: string
  name: string
  secret_digest: string
  /** One URI per line. */
  redirect_uris: string
  /** Separated by spaces. */
  scopes: string
  is_confidential: number
  created_at_ms: number
}

export const applicationOf = (row: Selectable<ApplicationsTable>): Application => ({
  id: row.id,
  uid: row.uid,
  name: row.name,
  redirectUris: row.redirect_uris.split('\n'),
  isConfidential: row.is_confidential === 1,
  scopes: row.scopes.split(' '),
})

export async function insertApplication(
  { db, nowMs }: Tx,
  draft: Omit<Application, 'id'> & { readonly secretDigest: string },
): Promise<Application> {
  const row = await db
    .insertInto('oauth_applications')
    .values({
      uid: draft.uid,
      name: draft.name,
      secret_digest: draft.secretDigest,
      redirect_uris: draft.redirectUris.join('\n'),
      scopes: draft.scopes.join(' '),
      is_confidential: draft.isConfidential ? 1 : 0,
      created_at_ms: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return applicationOf(row)
}

export async function findAllApplications({ db }: ReadContext): Promise<Application[]> {
  const rows = await db.selectFrom('oauth_applications').selectAll().orderBy('id').execute()
  return rows.map(applicationOf)
}

export async function countApplications({ db }: ReadContext): Promise<number> {
  const { count } = await db
    .selectFrom('oauth_applications')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

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

/** Deletes an application with its codes and tokens. @throws DomainError `not_found` */
export async function deleteApplication({ db }: Tx, id: number): Promise<void> {
  const row = await db.deleteFrom('oauth_applications').where('id', '=', id).returning('id').executeTakeFirst()
  if (row === undefined) throw notFound('Application')
}
