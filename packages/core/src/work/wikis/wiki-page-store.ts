import { createHash } from 'node:crypto'
import type { Generated, Kysely } from 'kysely'
import { chunked } from '../../base/kit/chunked.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { type ParentColumns, type ParentRef, parentColumns, parentOfRow } from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { SubscriptionTable } from '../../base/operations/subscription-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    wiki_pages: WikiPagesTable
    wiki_page_subscriptions: { wiki_page_id: number; user_id: number; is_subscribed: number }
  }
}

/** The ids of pages. The content of a page is in the repository of its wiki. */
interface WikiPagesTable extends ParentColumns {
  id: Generated<number>
  slug: string
  slug_hash: string
  created_at_ms: number
}

export const wikiPageSubscriptions: SubscriptionTable = {
  subscriptions: 'wiki_page_subscriptions',
  itemId: 'wiki_page_id',
}

interface Database {
  readonly db: Kysely<CoreTables>
}

const hashOf = (slug: string): string => createHash('sha256').update(slug).digest('hex')

/** A page by its place. */
interface PagePlace {
  readonly parent: ParentRef
  readonly slug: string
}

/** Returns the id of each page, or `undefined` for one that has none. */
export async function findPageIdOfEach({ db }: Database, pages: readonly PagePlace[]): Promise<(number | undefined)[]> {
  const placeOf = (parent: ParentRef, slug: string) => `${parent.kind} ${parent.id} ${slug}`
  const found = new Map<string, number>()
  for (const part of chunked(pages)) {
    const idsOf = (wanted: ParentRef['kind']) => [
      ...new Set(part.flatMap(({ parent: { kind, id } }) => (kind === wanted ? id : []))),
    ]
    const [groupIds, projectIds] = [idsOf('group'), idsOf('project')]
    const rows = await db
      .selectFrom('wiki_pages')
      .select(['id', 'slug', 'group_id', 'project_id'])
      .where('slug_hash', 'in', [...new Set(part.map(({ slug }) => hashOf(slug)))])
      .where((eb) =>
        eb.or([
          ...(groupIds.length > 0 ? [eb('group_id', 'in', groupIds)] : []),
          ...(projectIds.length > 0 ? [eb('project_id', 'in', projectIds)] : []),
        ]),
      )
      .execute()
    for (const row of rows) found.set(placeOf(parentOfRow(row), row.slug), row.id)
  }
  return pages.map(({ parent, slug }) => found.get(placeOf(parent, slug)))
}

/** Returns the ids of pages by slug, of those that have one. */
export async function findPageIds(
  context: Database,
  parent: ParentRef,
  slugs: readonly string[],
): Promise<Map<string, number>> {
  const ids = await findPageIdOfEach(
    context,
    slugs.map((slug) => ({ parent, slug })),
  )
  return new Map(slugs.flatMap((slug, index) => (ids[index] === undefined ? [] : [[slug, ids[index]]])))
}

/** Returns the ids of pages by slug. Pages without an id get one. */
export async function insertPageIds(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  parent: ParentRef,
  slugs: readonly string[],
): Promise<Map<string, number>> {
  const found = await findPageIds({ db }, parent, slugs)
  const missing = slugs.filter((slug) => !found.has(slug))
  for (const part of chunked(missing)) {
    const columns = { ...parentColumns(parent), created_at_ms: nowMs }
    const rows = await db
      .insertInto('wiki_pages')
      .values(part.map((slug) => ({ ...columns, slug, slug_hash: hashOf(slug) })))
      .returning(['id', 'slug'])
      .execute()
    for (const { id, slug } of rows) found.set(slug, id)
  }
  return found
}

/** Gives pages new slugs, and keeps their ids. */
export async function renamePages(
  { db }: Pick<Tx, 'db'>,
  parent: ParentRef,
  moves: ReadonlyMap<string, string>,
): Promise<void> {
  const ids = await findPageIds({ db }, parent, [...moves.keys()])
  // Rows of pages that a push removed, which would be in the way.
  const former = [...(await findPageIds({ db }, parent, [...moves.values()])).values()]
  const moving = new Set(ids.values())
  await deletePages(
    { db },
    former.filter((id) => !moving.has(id)),
  )
  // A page may get the slug that another one has until now, which leaves it first.
  const taken = new Set(moves.values())
  for (const [from, id] of ids) if (taken.has(from)) await setSlug(db, id, `\n${id}`)
  for (const [from, id] of ids) await setSlug(db, id, moves.get(from)!)
}

const setSlug = (db: Kysely<CoreTables>, id: number, slug: string) =>
  db
    .updateTable('wiki_pages')
    .set({ slug, slug_hash: hashOf(slug) })
    .where('id', '=', id)
    .execute()

export async function deletePages({ db }: Pick<Tx, 'db'>, ids: readonly number[]): Promise<void> {
  for (const part of chunked(ids)) await db.deleteFrom('wiki_pages').where('id', 'in', part).execute()
}

/** Returns the parent and the slug of a page. @throws DomainError `not_found` */
export async function getPagePlace({ db }: ReadContext, id: number): Promise<PagePlace> {
  const row = await db.selectFrom('wiki_pages').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('Wiki Page')
  return { parent: parentOfRow(row), slug: row.slug }
}
