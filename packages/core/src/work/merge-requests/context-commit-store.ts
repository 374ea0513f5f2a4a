import type { Generated } from 'kysely'
import { never } from '../../base/kit/conditions.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    context_commits: ContextCommitsTable
  }
}

interface ContextCommitsTable {
  id: Generated<number>
  merge_request_id: number
  /** The full id. */
  sha: string
  created_at_ms: number
}

/** The most commits that an error names. */
const MAX_NAMED = 100

/** Returns one page of the ids of the commits, in the order in which they were added. */
export function pageOfContextCommits(
  context: ReadContext,
  mergeRequestId: number,
  page: PageRequest,
): Promise<Page<string>> {
  const query = context.db
    .selectFrom('context_commits')
    .select('sha')
    .where('merge_request_id', '=', mergeRequestId)
    .orderBy('id')
  return pageOfItems(context, query, page, ({ sha }) => sha)
}

/**
 * Returns the ids of context commits that begin with one of the prefixes.
 *
 * @param prefixes hexadecimal digits in lower case
 */
export async function contextCommitsLike(
  { db }: ReadContext,
  mergeRequestId: number,
  prefixes: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('context_commits')
    .select('sha')
    .where('merge_request_id', '=', mergeRequestId)
    .where((eb) => (prefixes.length === 0 ? never : eb.or(prefixes.map((prefix) => eb('sha', 'like', `${prefix}%`)))))
    .orderBy('id')
    .limit(MAX_NAMED)
    .execute()
  return rows.map(({ sha }) => sha)
}

/** Returns those of the full ids, in any letter case, that are context commits. */
export async function contextCommitsAmong(
  { db }: ReadContext,
  mergeRequestId: number,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('context_commits')
    .select('sha')
    .where('merge_request_id', '=', mergeRequestId)
    .where('sha', 'in', [...new Set(ids.map((id) => id.toLowerCase()))])
    .execute()
  return rows.map(({ sha }) => sha)
}

export async function countContextCommits({ db }: Pick<Tx, 'db'>, mergeRequestId: number): Promise<number> {
  const { count } = await db
    .selectFrom('context_commits')
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .where('merge_request_id', '=', mergeRequestId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** @throws the database's error if one of them is a context commit already */
export async function insertContextCommits({ db, nowMs }: Tx, mergeRequestId: number, shas: readonly string[]) {
  const rows = shas.map((sha) => ({ merge_request_id: mergeRequestId, sha, created_at_ms: nowMs }))
  await db.insertInto('context_commits').values(rows).execute()
}

/** Deletes those of the commits that are context commits, and returns their ids. */
export async function deleteContextCommits(
  { db }: Tx,
  mergeRequestId: number,
  shas: readonly string[],
): Promise<string[]> {
  const rows = await db
    .deleteFrom('context_commits')
    .where('merge_request_id', '=', mergeRequestId)
    .where('sha', 'in', [...shas])
    .returning('sha')
    .execute()
  return rows.map(({ sha }) => sha)
}
