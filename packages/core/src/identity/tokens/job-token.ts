import type { Generated } from 'kysely'
import { z } from 'zod'
import { notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { command, unscopedCommand } from '../../base/operations/operation.ts'
import { getProject } from '../projects/project-store.ts'
import { findUser } from '../users/user-store.ts'
import type { Authenticated } from './authenticated.ts'
import { digestOf, digestOfPresented, newTokenText } from './token-text.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    job_tokens: JobTokensTable
  }
}

/** The tokens of jobs. A job is treated as running until its token is revoked. */
interface JobTokensTable {
  id: Generated<number>
  project_id: number
  /** The id of the user that started the job. */
  user_id: number
  /** The id of the job in its records; null if it was not given. */
  job_id: Generated<number | null>
  /** The SHA-256 hash of the value, in hex. */
  digest: string
  revoked_at_ms: number | null
  created_at_ms: number
}

interface IssuedJobToken {
  readonly id: number
  readonly value: string
}

/** Creates a job token. Used by the command line, because the service runs no jobs. Only the result contains the value. */
export const createJobToken = command(
  {
    name: 'createJobToken',
    caller: 'administrator',
    input: z.object({ project: namespaceRef, userId: z.int(), jobId: z.int().min(1).optional() }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'admin_project',
  },
  async ({ core, db, nowMs, subject, recordEvent }, { userId, jobId }): Promise<IssuedJobToken> => {
    if ((await findUser({ db, nowMs }, userId)) === undefined) throw notFound('User')
    const value = newTokenText(`${core.settings.serviceName}cbt-`, core.randomBytes)
    const { id } = await db
      .insertInto('job_tokens')
      .values({
        project_id: subject.id,
        user_id: userId,
        job_id: jobId ?? null,
        digest: digestOf(value),
        revoked_at_ms: null,
        created_at_ms: nowMs,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await recordEvent({ type: 'job_token.created', objectId: id, projectId: subject.id })
    return { id, value }
  },
)

/** Revokes a job token, because the job has ended. */
export const revokeJobToken = unscopedCommand(
  { name: 'revokeJobToken', caller: 'administrator', input: z.object({ id: z.int() }) },
  async ({ db, nowMs, recordEvent }, { id }) => {
    const row = await db
      .selectFrom('job_tokens')
      .select(['project_id', 'revoked_at_ms'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    if (row.revoked_at_ms !== null) return
    await db.updateTable('job_tokens').set({ revoked_at_ms: nowMs }).where('id', '=', id).execute()
    await recordEvent({ type: 'job_token.revoked', objectId: id, projectId: row.project_id })
  },
)

/** Finds the job token with this value; `undefined` if it is unknown. */
export async function findByJobTokenText(context: ReadContext, text: string): Promise<Authenticated | undefined> {
  const digest = digestOfPresented(text)
  if (digest === undefined) return undefined
  const row = await context.db
    .selectFrom('job_tokens')
    .select(['id', 'project_id', 'user_id', 'job_id', 'revoked_at_ms'])
    .where('digest', '=', digest)
    .executeTakeFirst()
  return (
    row && {
      kind: 'job',
      state: row.revoked_at_ms === null ? 'valid' : 'revoked',
      id: row.id,
      user: await findUser(context, row.user_id),
      scopes: ['api'],
      projectId: row.project_id,
      jobId: row.job_id ?? undefined,
    }
  )
}
