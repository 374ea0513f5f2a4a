import { expressionBuilder, sql } from 'kysely'
import type { z } from 'zod'
import { never } from '../../base/kit/conditions.ts'
import { containsWords } from '../../base/kit/contains-text.ts'
import { dayAt } from '../../base/kit/day.ts'
import { type Listing, listingOf } from '../../base/kit/listing.ts'
import { type KeysetColumn, mapPage, type Page, PageLookup, type PageRequest, pageOf } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { belongsTo, type ParentRef } from '../../base/model/parent.ts'
import { parentPaths, parentWithPath } from '../../identity/parents/parent-store.ts'
import type { DescribedMilestone, listMilestonesInput, Milestone, MilestoneOrder } from './milestone.ts'
import type { MilestoneScope } from './milestone-scope-store.ts'
import { describedMilestoneOf, listedMilestones, milestoneOf } from './milestone-store.ts'

type ListInput = z.output<typeof listMilestonesInput>
export type MilestoneFilter = Omit<Partial<ListInput>, 'state'> &
  Pick<ListInput, 'state'> & { readonly ids?: readonly number[] | undefined }

/**
 * Returns a page of milestones, ordered by due date. Milestones without one come last, and of milestones with the same
 * date the newest comes first.
 *
 * @param within a group or project, or a scope
 */
export async function pageOfMilestones(
  context: ReadContext,
  within: ParentRef | MilestoneScope,
  filter: MilestoneFilter,
  page: PageRequest,
): Promise<Page<DescribedMilestone>> {
  const conditions = conditionsOf(context, filter)
  const isOfParent = typeof within === 'object'
  const rows =
    isOfParent && conditions.length === 0
      ? await allMilestones[within.kind].run(context, page, within.id)
      : await pageOf(
          context,
          describedMilestones(context.db)
            .where(isOfParent ? belongsTo(within) : within)
            .where((eb) => eb.and(conditions)),
          page,
        )
  return mapPage(rows, (row) => describedMilestoneOf(row, parentWithPath(row)))
}

const describedMilestones = (db: ReadContext['db']) =>
  db.selectFrom('milestones').selectAll().select(parentPaths('milestones')).orderBy('due_order').orderBy('id', 'desc')

const allMilestonesOf = (kind: ParentRef['kind']) =>
  new PageLookup((db: ReadContext['db'], id: number) => describedMilestones(db).where(belongsTo({ kind, id })))
const allMilestones = { group: allMilestonesOf('group'), project: allMilestonesOf('project') }

interface Ordering {
  readonly orderBy: MilestoneOrder
  readonly sort: 'asc' | 'desc'
}

/** Lists the milestones of each scope. */
export function milestoneListing(
  context: ReadContext,
  scopes: readonly MilestoneScope[],
  filter: MilestoneFilter,
  ordering: Ordering,
): Listing<Milestone> {
  const { rank, value, order } = keysetOf(context, ordering)
  return listingOf<'milestones', ListedRow, Milestone>(
    context,
    scopes.map((scope) =>
      listedMilestones(context)
        .select([rank.as('order_rank'), value.as('order_value')])
        .where(scope)
        .where((eb) => eb.and(conditionsOf(context, filter))),
    ),
    { order, itemsOf: (rows) => rows.map(milestoneOf) },
  )
}

type ListedRow = Parameters<typeof milestoneOf>[0] & { readonly order_rank: number; readonly order_value: unknown }

function keysetOf({ nowMs }: ReadContext, { orderBy, sort }: Ordering) {
  const isByDueDate = orderBy === 'due_date' || orderBy === 'expired_last_due_date'
  const dueDate = sort === 'asc' ? sql`due_order` : sql`coalesce(due_date, '')`
  const value = isByDueDate ? dueDate : sql.ref(orderBy === 'created_at' ? 'created_at_ms' : 'updated_at_ms')
  const rank = sql<number>`case when due_date is null then 1 when due_date < ${dayAt(nowMs)} then 2 else 0 end`
  const columns: KeysetColumn<ListedRow>[] = [
    { column: value, key: 'order_value', name: orderBy, direction: sort },
    { column: 'milestones.id', key: 'id', direction: isByDueDate ? 'desc' : sort },
  ]
  const ranked: KeysetColumn<ListedRow> = { column: rank, key: 'order_rank', direction: 'asc' }
  return { rank, value, order: orderBy === 'expired_last_due_date' ? [ranked, ...columns] : columns }
}

const eb = expressionBuilder<CoreTables, 'milestones'>()

function conditionsOf(context: ReadContext, filter: MilestoneFilter) {
  const { iids, state, title, updatedBefore, updatedAfter, containingDate, startDate, endDate } = filter
  return [
    filter.ids !== undefined && (filter.ids.length === 0 ? never : eb('id', 'in', [...filter.ids])),
    iids !== undefined && iids.length > 0 && eb('iid', 'in', [...iids]),
    state !== 'all' && eb('state', '=', state),
    title !== undefined && eb('title', '=', title),
    containsWords(context, ['milestones.title', 'milestones.description'], filter.search),
    containsWords(context, ['milestones.title'], filter.searchTitle),
    updatedBefore !== undefined && eb('updated_at_ms', '<=', updatedBefore),
    updatedAfter !== undefined && eb('updated_at_ms', '>=', updatedAfter),
    containingDate !== undefined && eb('start_date', '<=', containingDate),
    containingDate !== undefined && eb('due_date', '>=', containingDate),
    startDate !== undefined && eb('due_date', '>=', startDate),
    endDate !== undefined && eb('start_date', '<=', endDate),
  ].filter((condition) => condition !== false && condition !== undefined)
}
