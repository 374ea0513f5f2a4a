import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    snippet_user_agents: SnippetUserAgentsTable
  }
}

/** The requests that created snippets. */
interface SnippetUserAgentsTable {
  snippet_id: number
  user_agent: string
  ip_address: string
  /** 1 if the snippet was reported to the spam-detection service. */
  is_submitted: number
}

/** The client that created a snippet. Only administrators see it. */
export interface SnippetUserAgent {
  readonly userAgent: string
  readonly ipAddress: string
  /** Whether the snippet was reported to the spam-detection service. */
  readonly isSubmitted: boolean
}

/** Stores the client of the request, unless the call has none, as on the command line. */
export async function insertUserAgent({ db, request }: Tx & OperationContext, snippetId: number): Promise<void> {
  const { userAgent, address } = request
  if (address === undefined) return
  await db
    .insertInto('snippet_user_agents')
    .values({ snippet_id: snippetId, user_agent: userAgent ?? '', ip_address: address, is_submitted: 0 })
    .execute()
}

export async function findUserAgent({ db }: ReadContext, snippetId: number): Promise<SnippetUserAgent | undefined> {
  const row = await db
    .selectFrom('snippet_user_agents')
    .selectAll()
    .where('snippet_id', '=', snippetId)
    .executeTakeFirst()
  return row && { userAgent: row.user_agent, ipAddress: row.ip_address, isSubmitted: row.is_submitted === 1 }
}

/** @throws DomainError `not_found` */
export async function getUserAgent(context: ReadContext, snippetId: number): Promise<SnippetUserAgent> {
  const found = await findUserAgent(context, snippetId)
  if (found === undefined) throw notFound('UserAgentDetail')
  return found
}

/** Records that a snippet was reported to the spam-detection service. */
export async function setSubmitted({ db }: Pick<Tx, 'db'>, snippetId: number): Promise<void> {
  await db.updateTable('snippet_user_agents').set({ is_submitted: 1 }).where('snippet_id', '=', snippetId).execute()
}

/** Returns those of the snippets that can still be reported. */
export async function unsubmittedUserAgents({ db }: ReadContext, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('snippet_user_agents')
    .select('snippet_id')
    .where('snippet_id', 'in', ids)
    .where('is_submitted', '=', 0)
    .execute()
  return new Set(rows.map((row) => row.snippet_id))
}
