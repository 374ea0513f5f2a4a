import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Standing } from '../../base/access/can.ts'
import { always, isOneOf, never } from '../../base/kit/conditions.ts'
import { containsWords } from '../../base/kit/contains-text.ts'
import { dayAt } from '../../base/kit/day.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { lineageOf } from '../../identity/groups/group-store.ts'
import type { IssuableFilter, NegatedIssuableFilter } from './issuable.ts'
import type { IssuableTables } from './issuable-tables.ts'

/** A key of a filter, the column it filters, and how the column compares with the filter's value. */
export type Comparison<Filter> = readonly [key: KeyOfPlain<Filter>, column: string, operator: '=' | '>=' | '<=']

type KeyOfPlain<Filter> = {
  [Key in keyof Filter & string]-?: Filter[Key] extends string | number | boolean | undefined ? Key : never
}[keyof Filter & string]

/** Returns one condition for each key that has a value in the filter. */
export const comparisonsOf = <Filter>(
  { items }: IssuableTables,
  filter: Filter,
  comparisons: readonly Comparison<Filter>[],
): RawBuilder<SqlBool>[] =>
  comparisons.flatMap(([key, column, operator]) => {
    const value = filter[key]
    if (value === undefined) return []
    const kept = typeof value === 'boolean' ? Number(value) : value
    return sql<SqlBool>`${sql.ref(`${items}.${column}`)} ${sql.raw(operator)} ${kept}`
  })

const comparisons: readonly Comparison<IssuableFilter>[] = [
  ['milestoneId', 'milestone_id', '='],
  ['authorId', 'author_id', '='],
  ['createdAfter', 'created_at_ms', '>='],
  ['createdBefore', 'created_at_ms', '<='],
  ['updatedAfter', 'updated_at_ms', '>='],
  ['updatedBefore', 'updated_at_ms', '<='],
  ['closedAfter', 'closed_at_ms', '>='],
  ['closedBefore', 'closed_at_ms', '<='],
]

/** Returns the filter's conditions for a query over `tables.items` and `projects`. */
export function conditionsOf(
  context: ReadContext,
  tables: IssuableTables,
  filter: IssuableFilter,
): RawBuilder<SqlBool>[] {
  const column = (name: string) => sql.ref(`${tables.items}.${name}`)
  const { within, milestone, milestoneTitles, milestoneWildcard } = filter
  const today = dayAt(context.nowMs)
  return [
    within !== undefined && placeCondition(within),
    filter.nonArchived === true && sql<SqlBool>`projects.is_archived = 0`,
    filter.iids !== undefined && filter.iids.length > 0 && sql<SqlBool>`${column('iid')} in (${sql.join(filter.iids)})`,
    milestone !== undefined && milestoneCondition(column('milestone_id'), milestone),
    milestoneTitles !== undefined && isOfMilestone(column('milestone_id'), titled(milestoneTitles)),
    milestoneWildcard !== undefined && milestoneWildcards[milestoneWildcard](column('milestone_id'), today),
    ...labelConditions(tables, filter.labels ?? [], 'all'),
    filter.authorUsername !== undefined && authorCondition(column('author_id'), [filter.authorUsername]),
    filter.assigneeId !== undefined && personCondition(tables, tables.assignees, filter.assigneeId),
    containsWords(
      context,
      (filter.in ?? ['title', 'description']).map((name) => `${tables.items}.${name}`),
      filter.search,
    ),
    ...comparisonsOf(tables, filter, comparisons),
    ...notConditions(tables, filter.not ?? {}, today),
    ...orConditions(tables, filter.or ?? {}),
  ].filter((condition) => condition !== false && condition !== undefined)
}

/**
 * Returns the conditions of `not`. A filter that excludes certain authors or milestones does not exclude items without
 * any.
 */
function notConditions(
  tables: IssuableTables,
  {
    iids,
    labels = [],
    authorUsernames,
    assigneeUsernames,
    milestoneTitles,
    milestoneWildcard,
    ...not
  }: NegatedIssuableFilter,
  today: string,
): RawBuilder<SqlBool>[] {
  const column = (name: string) => sql.ref(`${tables.items}.${name}`)
  const milestoneId = column('milestone_id')
  return [
    not.authorId !== undefined && isNot(column('author_id'), not.authorId),
    not.assigneeId !== undefined && sql<SqlBool>`not ${personCondition(tables, tables.assignees, not.assigneeId)}`,
    not.milestoneId !== undefined && isNot(milestoneId, not.milestoneId),
    not.milestone !== undefined && notOfMilestone(milestoneId, not.milestone),
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
      (milestoneWildcard === 'none' || milestoneWildcard === 'any'
        ? sql<SqlBool>`not ${milestoneWildcards[milestoneWildcard](milestoneId, today)}`
        : sql<SqlBool>`(${milestoneId} is not null and not ${milestoneWildcards[milestoneWildcard](milestoneId, today)})`),
  ].filter((condition) => condition !== false)
}

function orConditions(tables: IssuableTables, { labels, authorUsernames, assigneeUsernames }: OrFilter) {
  const authorId = sql.ref(`${tables.items}.author_id`)
  return [
    labels && labelConditions(tables, labels, 'some'),
    authorUsernames && [authorCondition(authorId, authorUsernames)],
    assigneeUsernames?.length && [personCondition(tables, tables.assignees, { usernames: assigneeUsernames })],
  ].flatMap((some) => (!some || some.length === 0 ? [] : sql<SqlBool>`(${sql.join(some, sql` or `)})`))
}

/** Returns the condition that a column has a different value, or is null. */
export const isNot = (column: RawBuilder<unknown>, value: number): RawBuilder<SqlBool> =>
  sql<SqlBool>`(${column} is null or ${column} <> ${value})`

/** Returns the condition for items that the actor has subscribed to, or has unsubscribed from. */
export function subscriptionCondition(
  { items, itemId, subscriptions }: IssuableTables,
  actor: { readonly id: number } | undefined,
  wanted: NonNullable<IssuableFilter['subscribed']>,
): RawBuilder<SqlBool> {
  if (actor === undefined) return never
  return sql<SqlBool>`exists (select 1 from ${sql.table(subscriptions)} as pairs
    where ${sql.ref(`pairs.${itemId}`)} = ${sql.ref(`${items}.id`)} and pairs.user_id = ${actor.id}
    and pairs.is_subscribed = ${Number(wanted === 'subscribed')})`
}

/** Returns the actor's standing in the only project of which the filter selects items, if the caller knows it. */
export const standingWithin = ({ within }: Pick<IssuableFilter, 'within'>): Standing | undefined =>
  within !== undefined && 'projectId' in within ? within.standing : undefined

type OrFilter = NonNullable<IssuableFilter['or']>

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

function notOfMilestone(milestoneId: RawBuilder<unknown>, milestone: string): RawBuilder<SqlBool> {
  const isWord = ['none', 'any'].includes(milestone.toLowerCase())
  const condition = milestoneCondition(milestoneId, milestone)
  return isWord ? sql<SqlBool>`not (${condition})` : sql<SqlBool>`(${milestoneId} is null or not ${condition})`
}

const isOfMilestone = (milestoneId: RawBuilder<unknown>, which: RawBuilder<SqlBool>) =>
  sql<SqlBool>`${milestoneId} in (select id from milestones where ${which})`

const titled = (titles: readonly string[]): RawBuilder<SqlBool> => isOneOf(sql.ref('title'), titles)

/** `started`: active, and its start date is today or earlier. `upcoming`: active, and due after today. */
const milestoneWildcards: Readonly<
  Record<
    NonNullable<IssuableFilter['milestoneWildcard']>,
    (milestoneId: RawBuilder<unknown>, today: string) => RawBuilder<SqlBool>
  >
> = {
  none: (milestoneId) => sql<SqlBool>`(${milestoneId} is null)`,
  any: (milestoneId) => sql<SqlBool>`(${milestoneId} is not null)`,
  started: (milestoneId, today) =>
    isOfMilestone(milestoneId, sql<SqlBool>`state = 'active' and start_date <= ${today}`),
  upcoming: (milestoneId, today) => isOfMilestone(milestoneId, sql<SqlBool>`state = 'active' and due_date > ${today}`),
}

const authorCondition = (authorId: RawBuilder<unknown>, usernames: readonly string[]): RawBuilder<SqlBool> =>
  usernames.length === 0 ? never : sql<SqlBool>`${authorId} in (${idsOfNamed(usernames)})`

/** Returns one condition for all label names together, and one for each of the words `none` and `any`. */
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

/** Returns the condition that a user, or one of several usernames, is among an item's assignees or reviewers. */
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

/** Returns the condition that every one of the usernames is among an item's assignees or reviewers. */
export function peopleCondition(
  tables: IssuableTables,
  people: keyof CoreTables,
  usernames: readonly string[],
): RawBuilder<SqlBool> {
  if (usernames.length === 0) return always
  return sql<SqlBool>`(select count(*) from ${sql.table(people)} as pairs
    where ${sql.ref(`pairs.${tables.itemId}`)} = ${sql.ref(`${tables.items}.id`)}
    and pairs.user_id in (${idsOfNamed(usernames)})) = ${new Set(usernames.map((name) => name.toLowerCase())).size}`
}

const idsOfNamed = (usernames: readonly string[]) => sql`select id from users
  where lower(username) in (${sql.join(usernames.map((username) => sql`lower(${username})`))})`
