import type { Selectable } from 'kysely'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { linkDraft, linkFields, type ReleaseLinkRecord, type ReleaseRecord, releaseFields } from './release.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    releases: ReleasesTable
    release_links: ReleaseLinksTable
    milestone_releases: { milestone_id: number; release_id: number }
  }
}

interface ReleasesTable extends ColumnsOf<typeof releaseFields> {}
interface ReleaseLinksTable extends ColumnsOf<typeof linkFields> {}

const releaseOf = (row: Selectable<ReleasesTable>): ReleaseRecord => fromRow(releaseFields, row)
const linkOf = (row: Selectable<ReleaseLinksTable>): ReleaseLinkRecord => fromRow(linkFields, row)

interface ReleaseFilter {
  readonly orderBy: 'released_at' | 'created_at'
  readonly sort: 'asc' | 'desc'
  readonly updatedAfter?: number | undefined
  readonly updatedBefore?: number | undefined
}

export function pageOfReleases(
  context: ReadContext,
  { id }: Pick<Project, 'id'>,
  { updatedAfter, updatedBefore, ...page }: PageRequest & ReleaseFilter,
): Promise<Page<ReleaseRecord>> {
  const query = context.db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', id)
    .$if(updatedAfter !== undefined, (releases) => releases.where('updated_at_ms', '>=', updatedAfter!))
    .$if(updatedBefore !== undefined, (releases) => releases.where('updated_at_ms', '<=', updatedBefore!))
    .orderBy(`${page.orderBy}_ms`, page.sort)
    .orderBy('id', page.sort)
  return pageOfItems(context, query, page, releaseOf)
}

export async function findRelease(
  { db }: ReadContext,
  { id }: Pick<Project, 'id'>,
  tag: string,
): Promise<ReleaseRecord | undefined> {
  const query = db.selectFrom('releases').selectAll().where('project_id', '=', id).where('tag', '=', tag)
  const row = await query.executeTakeFirst()
  return row && releaseOf(row)
}

/** Returns the release; `undefined` if it has been removed. */
export async function findReleaseById({ db }: ReadContext, id: number): Promise<ReleaseRecord | undefined> {
  const row = await db.selectFrom('releases').selectAll().where('id', '=', id).executeTakeFirst()
  return row && releaseOf(row)
}

const { id: _, ...storedRelease } = releaseFields

export const insertRelease = async (tx: Tx, draft: Omit<ReleaseRecord, 'id'>): Promise<ReleaseRecord> =>
  releaseOf(await insertRow(tx, 'releases', toRow(storedRelease, draft)))

export const updateReleaseRow = async (
  tx: Tx,
  { id, name, description, releasedAtMs }: Pick<ReleaseRecord, 'id' | 'name' | 'description' | 'releasedAtMs'>,
): Promise<ReleaseRecord> =>
  releaseOf(
    await updateRow(tx, 'releases', id, {
      name: name ?? null,
      description: description ?? null,
      released_at_ms: releasedAtMs,
      updated_at_ms: tx.nowMs,
    }),
  )

export const deleteRelease = (tx: Tx, id: number) => deleteRow(tx, 'releases', id)

/** Returns the ids of the milestones by release, in ascending order. */
export async function milestonesByRelease(
  { db }: ReadContext,
  releaseIds: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const ids = new Map<number, number[]>(releaseIds.map((id) => [id, []]))
  if (releaseIds.length === 0) return ids
  const rows = await db
    .selectFrom('milestone_releases')
    .selectAll()
    .where('release_id', 'in', [...releaseIds])
    .orderBy('milestone_id')
    .execute()
  for (const row of rows) ids.get(row.release_id)?.push(row.milestone_id)
  return ids
}

export async function setMilestones({ db }: Tx, releaseId: number, milestoneIds: readonly number[]): Promise<void> {
  await db.deleteFrom('milestone_releases').where('release_id', '=', releaseId).execute()
  if (milestoneIds.length === 0) return
  const values = milestoneIds.map((milestone_id) => ({ milestone_id, release_id: releaseId }))
  await db.insertInto('milestone_releases').values(values).execute()
}

/** Returns the milestones of the project and of the groups above it that match an id or a title. */
export async function milestonesOfProject(
  { db }: ReadContext,
  project: Pick<Project, 'id' | 'groupIds'>,
  wanted: { readonly ids: readonly number[] } | { readonly titles: readonly string[] },
): Promise<{ id: number; title: string }[]> {
  const values = 'ids' in wanted ? wanted.ids : wanted.titles
  if (values.length === 0) return []
  return db
    .selectFrom('milestones')
    .select(['id', 'title'])
    .$if('ids' in wanted, (query) => query.where('id', 'in', values as number[]))
    .$if('titles' in wanted, (query) => query.where('title', 'in', values as string[]))
    .where((eb) =>
      eb.or([
        eb('project_id', '=', project.id),
        ...(project.groupIds.length > 0 ? [eb('group_id', 'in', [...project.groupIds])] : []),
      ]),
    )
    .execute()
}

/** Returns the links of releases, the newest first. */
export async function linksOfReleases(
  { db }: ReadContext,
  releaseIds: readonly number[],
): Promise<ReleaseLinkRecord[]> {
  if (releaseIds.length === 0) return []
  const rows = await db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', 'in', [...releaseIds])
    .orderBy('id', 'desc')
    .execute()
  return rows.map(linkOf)
}

export const pageOfLinks = (
  context: ReadContext,
  releaseId: number,
  page: PageRequest,
): Promise<Page<ReleaseLinkRecord>> =>
  pageOfItems(
    context,
    context.db.selectFrom('release_links').selectAll().where('release_id', '=', releaseId).orderBy('id', 'desc'),
    page,
    linkOf,
  )

const { id: _id, ...storedLink } = linkFields

export const insertLink = async (tx: Tx, draft: Omit<ReleaseLinkRecord, 'id'>): Promise<ReleaseLinkRecord> =>
  linkOf(await insertRow(tx, 'release_links', toRow(storedLink, draft)))

export const updateLinkRow = async (tx: Tx, link: ReleaseLinkRecord): Promise<ReleaseLinkRecord> =>
  linkOf(await updateRow(tx, 'release_links', link.id, { ...toRow(linkDraft, link), updated_at_ms: tx.nowMs }))

export const deleteLink = (tx: Tx, id: number) => deleteRow(tx, 'release_links', id)
