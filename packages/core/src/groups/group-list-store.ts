import type { Expression, SqlBool } from 'kysely'
import type { Visibility } from '../access/access-level.ts'
import { containsText } from '../kit/contains-text.ts'
import type { Reading } from '../kit/context.ts'
import {
  type KeysetPage,
  type KeysetRequest,
  keysetPageOf,
  mapKeysetPage,
  mapPage,
  noKeysetInThisOrder,
  type Page,
  type PageRequest,
  pageOf,
} from '../kit/page.ts'
import type { Group } from './group.ts'
import { groupOf, lineageOf } from './group-store.ts'

export interface GroupFilter {
  /** Only those directly in this one, or anywhere below it. */
  readonly within?: { readonly group: Group; readonly depth: 'direct' | 'any' }
  readonly isTopLevel?: boolean | undefined
  /** Part of the name or path. */
  readonly search?: string | undefined
  readonly visibility?: Visibility | undefined
  readonly without?: readonly number[] | undefined
  /** Which of them may be seen, and what else is asked. */
  readonly where: readonly Expression<SqlBool>[]
}

export interface GroupOrder {
  readonly by: 'id' | 'name' | 'path'
  readonly direction: 'asc' | 'desc'
}

export async function pageOfGroups(
  reading: Reading,
  filter: GroupFilter,
  { by, direction }: GroupOrder,
  page: PageRequest,
): Promise<Page<Group>> {
  const query = filtered(reading, filter)
  const ordered = by === 'id' ? query : query.orderBy(by, direction)
  return mapPage(await pageOf(reading, ordered.orderBy('id', direction), page), groupOf)
}

/** @throws DomainError `no_keyset_in_order` unless by name, ascending */
export async function keysetPageOfGroups(
  reading: Reading,
  filter: GroupFilter,
  { by, direction }: GroupOrder,
  page: KeysetRequest,
): Promise<KeysetPage<Group>> {
  if (by !== 'name' || direction !== 'asc') throw noKeysetInThisOrder()
  const found = await keysetPageOf(filtered(reading, filter), page, [
    { column: 'groups.name', key: 'name', direction },
    { column: 'groups.id', key: 'id', direction },
  ])
  return mapKeysetPage(found, groupOf)
}

function filtered({ db }: Reading, { within, search, without, visibility, isTopLevel, where }: GroupFilter) {
  let query = db.selectFrom('groups').selectAll()
  if (within?.depth === 'direct') query = query.where('parent_id', '=', within.group.id)
  if (within?.depth === 'any') query = query.where('lineage', 'like', `${lineageOf(within.group.groupIds)}_%`)
  if (isTopLevel) query = query.where('parent_id', 'is', null)
  if (search !== undefined) query = query.where(containsText(['groups.name', 'groups.path'], search))
  if (visibility !== undefined) query = query.where('visibility', '=', visibility)
  if (without !== undefined && without.length > 0) query = query.where('id', 'not in', [...without])
  for (const condition of where) query = query.where(condition)
  return query
}
