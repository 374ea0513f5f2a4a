import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { accessLevels } from '../access/access-level.ts'
import { hasLevelInProject } from '../access/visible-store.ts'
import { lineageOf } from '../groups/group-store.ts'
import { containsWords } from '../kit/contains-text.ts'
import type { Reading, Tx } from '../kit/context.ts'
import { dayAt } from '../kit/day.ts'
import type { CoreTables } from '../kit/tables.ts'
import { findMilestones } from '../milestones/milestone-store.ts'
import type { Project } from '../projects/project.ts'
import type { User } from '../users/user.ts'
import { userOf } from '../users/user-store.ts'
import type { Issuable, IssuableFilter } from './issuable.ts'

/** Where those of a kind lie, and in which column of the tables of pairs their id stands. */
export interface IssuableTables {
  readonly items: 'issues' | 'merge_requests'
  readonly itemId: string
  readonly labels: keyof CoreTables
  readonly assignees: keyof CoreTables
}

/** For a query over `items` and `projects`. */
export function conditionsOf(
  reading: Pick<Reading, 'nowMs'>,
  tables: IssuableTables,
  filter: IssuableFilter,
): RawBuilder<SqlBool>[] {
  const column = (name: string) => sql.ref(`${tables.items}.${name}`)
  const { within, milestone, milestoneTitles, milestoneWildcard } = filter
  const today = dayAt(reading.nowMs)
  return [
    within !== undefined && placeCondition(within),
    filter.nonArchived === true && sql<SqlBool>`projects.is_archived = 0`,
    filter.iids !== undefined && filter.iids.length > 0 && sql<SqlBool>`${column('iid')} in (${sql.join(filter.iids)})`,
    filter.milestoneId !== undefined && sql<SqlBool>`${column('milestone_id')} = ${filter.milestoneId}`,
    milestone !== undefined && milestoneCondition(column('milestone_id'), milestone),
    milestoneTitles !== undefined && isOfMilestone(column('milestone_id'), titled(milestoneTitles)),
    milestoneWildcard !== undefined && milestoneWildcards[milestoneWildcard](column('milestone_id'), today),
    ...labelConditions(tables, filter.labels ?? [], 'all'),
    filter.authorId !== undefined && sql<SqlBool>`${column('author_id')} = ${filter.authorId}`,
    filter.authorUsername !== undefined && authorCondition(column('author_id'), [filter.authorUsername]),
    filter.assigneeId !== undefined && personCondition(tables, tables.assignees, filter.assigneeId),
    ...containsWords(
      (filter.in ?? ['title', 'description']).map((name) => `${tables.items}.${name}`),
      filter.search,
    ),
    filter.createdAfter !== undefined && sql<SqlBool>`${column('created_at_ms')} >= ${filter.createdAfter}`,
    filter.createdBefore !== undefined && sql<SqlBool>`${column('created_at_ms')} <= ${filter.createdBefore}`,
    filter.updatedAfter !== undefined && sql<SqlBool>`${column('updated_at_ms')} >= ${filter.updatedAfter}`,
    filter.updatedBefore !== undefined && sql<SqlBool>`${column('updated_at_ms')} <= ${filter.updatedBefore}`,
    filter.closedAfter !== undefined && sql<SqlBool>`${column('closed_at_ms')} >= ${filter.closedAfter}`,
    filter.closedBefore !== undefined && sql<SqlBool>`${column('closed_at_ms')} <= ${filter.closedBefore}`,
    ...negatedConditions(tables, filter.not ?? {}, today),
    ...unitedConditions(tables, filter.or ?? {}),
  ].filter((condition) => condition !== false)
}

/** A thing that lacks what it could be of another kind of is none of the kind that is ruled out. */
function negatedConditions(
  tables: IssuableTables,
  { iids, labels = [], authorUsernames, assigneeUsernames, milestoneTitles, milestoneWildcard }: Negated,
  today: string,
): RawBuilder<SqlBool>[] {
  const column = (name: string) => sql.ref(`${tables.items}.${name}`)
  const milestoneId = column('milestone_id')
  return [
    iids !== undefined && iids.length > 0 && sql<SqlBool>`${column('iid')} not in (${sql.join(iids)})`,
    ...labelConditions(tables, labels, 'some').map((condition) => sql<SqlBool>`not ${condition}`),
    authorUsernames !== undefined &&
      sql<SqlBool>`(${column('author_id')} is null or not ${authorCondition(column('author_id'), authorUsernames)})`,
    assigneeUsernames !== undefined &&
      assigneeUsernames.length > 0 &&
      sql<SqlBool>`not ${personCondition(tables, tables.assignees, { usernames: assigneeUsernames })}`,
    milestoneTitles !== undefined &&
      sql<SqlBool>`(${milestoneId} is null or not ${isOfMilestone(milestoneId, titled(milestoneTitles))})`,
    milestoneWildcard !== undefined &&
      sql<SqlBool>`(${milestoneId} is not null and not ${milestoneWildcards[milestoneWildcard](milestoneId, today)})`,
  ].filter((condition) => condition !== false)
}

function unitedConditions(tables: IssuableTables, { labels, authorUsernames, assigneeUsernames }: United) {
  const authorId = sql.ref(`${tables.items}.author_id`)
  return [
    labels && labelConditions(tables, labels, 'some'),
    authorUsernames && [authorCondition(authorId, authorUsernames)],
    assigneeUsernames?.length && [personCondition(tables, tables.assignees, { usernames: assigneeUsernames })],
  ].flatMap((some) => (!some || some.length === 0 ? [] : sql<SqlBool>`(${sql.join(some, sql` or `)})`))
}

type Negated = NonNullable<IssuableFilter['not']>
type United = NonNullable<IssuableFilter['or']>

function placeCondition(within: NonNullable<IssuableFilter['within']>): RawBuilder<SqlBool> {
  if ('projectId' in within) return sql<SqlBool>`projects.id = ${within.projectId}`
  if (!within.withSubgroups) return sql<SqlBool>`projects.group_id = ${within.group.id}`
  return sql<SqlBool>`projects.lineage like ${`${lineageOf(within.group.groupIds)}%`}`
}

function milestoneCondition(milestoneId: RawBuilder<unknown>, milestone: string): RawBuilder<SqlBool> {
  if (milestone.toLowerCase() === 'none') return sql<SqlBool>`${milestoneId} is null`
  if (milestone.toLowerCase() === 'any') return sql<SqlBool>`${milestoneId} is not null`
  return isOfMilestone(milestoneId, titled([milestone]))
}

const isOfMilestone = (milestoneId: RawBuilder<unknown>, which: RawBuilder<SqlBool>) =>
  sql<SqlBool>`${milestoneId} in (select id from milestones where ${which})`

const titled = (titles: readonly string[]): RawBuilder<SqlBool> =>
  titles.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`title in (${sql.join([...titles])})`

/** `started`: open, and begun by today; `upcoming`: open, and due after today. */
const milestoneWildcards = {
  none: (milestoneId) => sql<SqlBool>`${milestoneId} is null`,
  any: (milestoneId) => sql<SqlBool>`${milestoneId} is not null`,
  started: (milestoneId, today) =>
    isOfMilestone(milestoneId, sql<SqlBool>`state = 'active' and start_date <= ${today}`),
  upcoming: (milestoneId, today) => isOfMilestone(milestoneId, sql<SqlBool>`state = 'active' and due_date > ${today}`),
} as const satisfies Record<string, (milestoneId: RawBuilder<unknown>, today: string) => RawBuilder<SqlBool>>

const authorCondition = (authorId: RawBuilder<unknown>, usernames: readonly string[]): RawBuilder<SqlBool> =>
  usernames.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`${authorId} in (${idsOfNamed(usernames)})`

/** One for all names together, however many, and one for each of the words that stand for no label and for any. */
function labelConditions(
  tables: IssuableTables,
  names: readonly string[],
  wanted: 'all' | 'some',
): RawBuilder<SqlBool>[] {
  const pairs = (what: string) => sql`select ${sql.raw(what)} from ${sql.table(tables.labels)} as pairs
    inner join labels on labels.id = pairs.label_id
    where ${sql.ref(`pairs.${tables.itemId}`)} = ${sql.ref(`${tables.items}.id`)}`
  const words = new Set(names.map((name) => name.toLowerCase()))
  const proper = names.filter((name) => !['none', 'any'].includes(name.toLowerCase()))
  const named = sql`labels.name in (${sql.join(proper)})`
  return [
    words.has('none') && sql<SqlBool>`not exists (${pairs('1')})`,
    words.has('any') && sql<SqlBool>`exists (${pairs('1')})`,
    proper.length > 0 &&
      (wanted === 'some' || proper.length === 1
        ? sql<SqlBool>`exists (${pairs('1')} and ${named})`
        : sql<SqlBool>`(${pairs('count(distinct labels.name)')} and ${named}) = ${new Set(proper).size}`),
  ].filter((condition) => condition !== false)
}

/** Whether someone, or one of those names, is among the people of a table of pairs: assignees, reviewers. */
export function personCondition(
  tables: IssuableTables,
  people: keyof CoreTables,
  who: number | 'none' | 'any' | { readonly usernames: readonly string[] },
): RawBuilder<SqlBool> {
  const pairs = sql`select 1 from ${sql.table(people)} as pairs
    where ${sql.ref(`pairs.${tables.itemId}`)} = ${sql.ref(`${tables.items}.id`)}`
  if (who === 'none') return sql<SqlBool>`not exists (${pairs})`
  if (who === 'any') return sql<SqlBool>`exists (${pairs})`
  if (typeof who === 'number') return sql<SqlBool>`exists (${pairs} and pairs.user_id = ${who})`
  return sql<SqlBool>`exists (${pairs} and pairs.user_id in (${idsOfNamed(who.usernames)}))`
}

/** Whether each of those names is among them. */
export function peopleCondition(
  tables: IssuableTables,
  people: keyof CoreTables,
  usernames: readonly string[],
): RawBuilder<SqlBool> {
  if (usernames.length === 0) return sql<SqlBool>`1 = 1`
  return sql<SqlBool>`(select count(*) from ${sql.table(people)} as pairs
    where ${sql.ref(`pairs.${tables.itemId}`)} = ${sql.ref(`${tables.items}.id`)}
    and pairs.user_id in (${idsOfNamed(usernames)})) = ${new Set(usernames.map((name) => name.toLowerCase())).size}`
}

const idsOfNamed = (usernames: readonly string[]) => sql`select id from users
  where lower(username) in (${sql.join(usernames.map((username) => sql`lower(${username})`))})`

/** The most urgent of its labels' priorities, for an ascending order; after all others without one. */
export const labelPriorityOf = (tables: IssuableTables): RawBuilder<number> =>
  sql<number>`coalesce((select min(labels.priority) from ${sql.table(tables.labels)} as pairs
    inner join labels on labels.id = pairs.label_id
    where ${sql.ref(`pairs.${tables.itemId}`)} = ${sql.ref(`${tables.items}.id`)}), 2147483647)`

/** What a row of either kind has, beside the path of its project. */
export interface IssuableRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly project_path: string
  readonly title: string
  readonly author_id: number | null
  readonly milestone_id: number | null
  readonly is_discussion_locked: number | null
  readonly closed_by_id: number | null
  readonly closed_at_ms: number | null
  readonly created_at_ms: number
  readonly updated_at_ms: number
}

/**
 * What issues and merge requests have in common, for rows of a page. As many queries for all of them as for one.
 *
 * @param otherIds of users who are shown with them too
 */
export async function issuablesOf(
  reading: Reading,
  tables: IssuableTables,
  rows: readonly IssuableRow[],
  otherIds: Iterable<number | null> = [],
): Promise<{ readonly of: (row: IssuableRow) => Issuable; readonly users: ReadonlyMap<number, User> }> {
  const ids = rows.map((row) => row.id)
  const labels = await labelsByItem(reading, tables, ids)
  const assignees = await userIdsByItem(reading, tables, tables.assignees, ids)
  const userIds = [...rows.flatMap((row) => [row.author_id, row.closed_by_id]), ...[...assignees.values()].flat()]
  const users = await usersById(reading, [...userIds, ...otherIds])
  const milestones = await findMilestones(
    reading,
    rows.flatMap((row) => row.milestone_id ?? []),
  )
  const of = (row: IssuableRow): Issuable => ({
    id: row.id,
    iid: row.iid,
    projectId: row.project_id,
    projectPath: row.project_path,
    title: row.title,
    author: users.get(row.author_id ?? 0),
    assignees: (assignees.get(row.id) ?? []).map((id) => users.get(id)!),
    labels: labels.get(row.id) ?? [],
    milestone: milestones.get(row.milestone_id ?? 0),
    isDiscussionLocked: row.is_discussion_locked === null ? undefined : row.is_discussion_locked === 1,
    closedBy: users.get(row.closed_by_id ?? 0),
    closedAtMs: row.closed_at_ms ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  })
  return { of, users }
}

/** Names of the labels of each, in their order. */
async function labelsByItem(
  { db }: Reading,
  tables: IssuableTables,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (itemIds.length === 0) return new Map()
  const { rows } = await sql<{ item_id: number; name: string }>`
    select ${sql.ref(`pairs.${tables.itemId}`)} as item_id, labels.name from ${sql.table(tables.labels)} as pairs
    inner join labels on labels.id = pairs.label_id
    where ${sql.ref(`pairs.${tables.itemId}`)} in (${sql.join([...itemIds])})
    order by labels.name, labels.id`.execute(db)
  return grouped(rows.map(({ item_id, name }) => [item_id, name]))
}

/** Ids of the people of each, in the order of their accounts. */
export async function userIdsByItem(
  { db }: Reading,
  tables: IssuableTables,
  people: keyof CoreTables,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (itemIds.length === 0) return new Map()
  const { rows } = await sql<{ item_id: number; user_id: number }>`
    select ${sql.ref(tables.itemId)} as item_id, user_id from ${sql.table(people)}
    where ${sql.ref(tables.itemId)} in (${sql.join([...itemIds])})
    order by user_id`.execute(db)
  return grouped(rows.map(({ item_id, user_id }) => [item_id, user_id]))
}

async function usersById({ db }: Reading, ids: Iterable<number | null>): Promise<ReadonlyMap<number, User>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  if (wanted.length === 0) return new Map()
  const rows = await db.selectFrom('users').selectAll().where('id', 'in', wanted).execute()
  return new Map(rows.map((row) => [row.id, userOf(row)]))
}

/** Replaces the labels or people of one. True: it made a difference. */
export async function setPairs(
  { db }: Tx,
  { itemId }: IssuableTables,
  table: keyof CoreTables,
  other: 'label_id' | 'user_id',
  owner: number,
  others: readonly number[],
): Promise<boolean> {
  const { rows } = await sql<{ other: number }>`
    select ${sql.ref(other)} as other from ${sql.table(table)} where ${sql.ref(itemId)} = ${owner}`.execute(db)
  const before = new Set(rows.map((row) => row.other))
  const gone = [...before].filter((id) => !others.includes(id))
  const added = others.filter((id) => !before.has(id))
  if (gone.length > 0) {
    await sql`delete from ${sql.table(table)}
      where ${sql.ref(itemId)} = ${owner} and ${sql.ref(other)} in (${sql.join(gone)})`.execute(db)
  }
  if (added.length > 0) {
    const values = added.map((id) => sql`(${owner}, ${id})`)
    await sql`insert into ${sql.table(table)} (${sql.ref(itemId)}, ${sql.ref(other)})
      values ${sql.join(values)}`.execute(db)
  }
  return gone.length + added.length > 0
}

/** Of these users those who may be given work in the project, because they see it. */
export async function assignable(
  reading: Reading,
  project: Pick<Project, 'id'>,
  userIds: readonly number[],
): Promise<number[]> {
  if (userIds.length === 0) return []
  const rows = await reading.db
    .selectFrom('users')
    .innerJoin('projects', (join) => join.on('projects.id', '=', project.id))
    .select('users.id')
    .where('users.id', 'in', [...userIds])
    .where((eb) =>
      eb.or([
        eb('projects.visibility', 'in', ['public', 'internal']),
        eb('users.is_admin', '=', 1),
        ...userIds.map((id) => eb.and([eb('users.id', '=', id), hasLevelInProject(reading, id, accessLevels.guest)])),
      ]),
    )
    .execute()
  return rows.map((row) => row.id)
}

function grouped<Value>(pairs: readonly (readonly [number, Value])[]): ReadonlyMap<number, readonly Value[]> {
  const groups = new Map<number, Value[]>()
  for (const [key, value] of pairs) {
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}
