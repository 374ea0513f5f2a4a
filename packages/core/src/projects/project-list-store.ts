import type { Expression, SqlBool } from 'kysely'
import type { Visibility } from '../access/access-level.ts'
import type { Group } from '../groups/group.ts'
import { lineageOf } from '../groups/group-store.ts'
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
  requireNearOffset,
} from '../kit/page.ts'
import type { Project } from './project.ts'
import { projectOf } from './project-store.ts'

export interface ProjectFilter {
  /** Only those directly in this one, or anywhere below it. */
  readonly within?: { readonly group: Group; readonly depth: 'direct' | 'any' }
  readonly ownerId?: number
  /** Part of the name, path or description. */
  readonly search?: string | undefined
  readonly visibility?: Visibility | undefined
  readonly isArchived?: boolean | undefined
  readonly idAfter?: number | undefined
  readonly idBefore?: number | undefined
  readonly lastActivityAfterMs?: number | undefined
  readonly lastActivityBeforeMs?: number | undefined
  /** Whom of them may be seen, and what else is asked. */
  readonly where: readonly Expression<SqlBool>[]
}

/** The columns by REST's names of them. */
const orderColumns = {
  id: 'id',
  name: 'name',
  path: 'path',
  created_at: 'created_at_ms',
  updated_at: 'last_activity_at_ms',
  last_activity_at: 'last_activity_at_ms',
} as const

export const projectOrders = Object.keys(orderColumns) as [keyof typeof orderColumns]

export interface ProjectOrder {
  readonly by: keyof typeof orderColumns
  readonly direction: 'asc' | 'desc'
}

/** @throws DomainError `no_keyset_in_order`, but for that of the ids; `page_too_far` */
export async function listProjectRows(
  reading: Reading,
  filter: ProjectFilter,
  { by, direction }: ProjectOrder,
  page: PageRequest & KeysetRequest,
  isKeyset: boolean,
): Promise<Page<Project> | KeysetPage<Project>> {
  let query = reading.db.selectFrom('projects').selectAll()
  const { within, search } = filter
  if (within?.depth === 'direct') query = query.where('group_id', '=', within.group.id)
  if (within?.depth === 'any') query = query.where('lineage', 'like', `${lineageOf(within.group.groupIds)}%`)
  if (filter.ownerId !== undefined) query = query.where('owner_id', '=', filter.ownerId)
  if (search !== undefined)
    query = query.where(containsText(['projects.name', 'projects.path', 'projects.description'], search))
  if (filter.visibility !== undefined) query = query.where('visibility', '=', filter.visibility)
  if (filter.isArchived !== undefined) query = query.where('is_archived', '=', filter.isArchived ? 1 : 0)
  if (filter.idAfter !== undefined) query = query.where('id', '>', filter.idAfter)
  if (filter.idBefore !== undefined) query = query.where('id', '<', filter.idBefore)
  if (filter.lastActivityAfterMs !== undefined)
    query = query.where('last_activity_at_ms', '>=', filter.lastActivityAfterMs)
  if (filter.lastActivityBeforeMs !== undefined)
    query = query.where('last_activity_at_ms', '<=', filter.lastActivityBeforeMs)
  for (const condition of filter.where) query = query.where(condition)
  if (isKeyset) {
    if (by !== 'id') throw noKeysetInThisOrder()
    return mapKeysetPage(await keysetPageOf(query, page, [{ column: 'projects.id', key: 'id', direction }]), projectOf)
  }
  requireNearOffset(page, 'Project')
  if (by !== 'id') query = query.orderBy(orderColumns[by], direction)
  return mapPage(await pageOf(reading, query.orderBy('id', direction), page), projectOf)
}
