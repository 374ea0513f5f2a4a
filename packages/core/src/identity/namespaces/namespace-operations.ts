import { z } from 'zod'
import { can, canSee } from '../../base/access/can.ts'
import { requirePermission, standingOf, standingsOf } from '../../base/access/subject.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { mapPage, type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Group } from '../../base/model/group.ts'
import { userOfNamespace } from '../../base/model/user.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { unscopedQuery } from '../../base/operations/operation.ts'
import { findGroup, findGroups } from '../groups/group-store.ts'
import { countsOfGroups, type GroupCounts, pageOfNamespaces } from '../groups/namespace-list-store.ts'
import { isNamespacePath, isPathInUse } from '../paths/route-store.ts'
import type { NamespaceOwner } from '../projects/project-relations.ts'
import type { Namespace } from '../projects/project-view.ts'
import { namespaceOfGroup, namespaceOfUser } from '../projects/project-view-store.ts'
import { findUser, findUserByUsername, findUsers } from '../users/user-store.ts'

/** Returns the group or user that a path belongs to. */
export const showNamespace = unscopedQuery(
  { name: 'showNamespace', caller: 'anyone', input: z.object({ path: z.string().max(1_024) }) },
  async (context, { path }): Promise<NamespaceOwner> => {
    const group = await findGroup(context, path)
    if (group !== undefined) {
      await requirePermission(context, group, 'read_group')
      return { group }
    }
    const user = await findUserByUsername(context, path)
    if (user === undefined) throw notFound('Namespace')
    return { user }
  },
)

/** A namespace, with its counts if it is a group and the actor is one of its owners. */
export interface CountedNamespace extends Namespace {
  readonly counts?: Partial<GroupCounts> | undefined
}

/** Lists the actor's namespace and the groups in which the actor has a role; all namespaces for an administrator. */
export const listNamespaces = unscopedQuery(
  {
    name: 'listNamespaces',
    input: z.object({
      search: z.string().max(255).optional(),
      ownedOnly: z.boolean().default(false),
      topLevelOnly: z.boolean().default(false),
      ...pageInput,
    }),
  },
  async (context, { search, ownedOnly, topLevelOnly, ...page }): Promise<Page<CountedNamespace>> => {
    const filter = { search: search || undefined, isOwned: ownedOnly, isTopLevel: topLevelOnly }
    const keys = await pageOfNamespaces(context, context.actor!, filter, page)
    const idsOf = (wanted: string) => keys.items.flatMap(({ kind, id }) => (kind === wanted ? id : []))
    const groups = await findGroups(context, idsOf('group'))
    const users = await findUsers(context, idsOf('user'))
    const counted = await countedGroups(context, [...groups.values()])
    return mapPage(keys, ({ kind, id }) => (kind === 'group' ? counted.get(id)! : namespaceOfUser(users.get(id)!)))
  },
)

/** Returns a namespace, given by id or path, to its members. */
export const getNamespace = unscopedQuery(
  { name: 'getNamespace', input: z.object({ namespace: namespaceRef }) },
  async (context, { namespace: ref }): Promise<CountedNamespace> => {
    const actor = context.actor!
    const userId = typeof ref === 'number' ? userOfNamespace(ref) : undefined
    const group = userId === undefined ? await findGroup(context, ref) : undefined
    if (group !== undefined) {
      const { level, isAdministrator } = await standingOf(context, actor, group)
      if (level === 0 && !isAdministrator) throw notFound('Namespace')
      return (await countedGroups(context, [group])).get(group.id)!
    }
    const user = await findOwner(context, userId, ref)
    // A bot has no namespace of its own.
    if (user === undefined || user.isBot || (user.id !== actor.id && !actor.isAdministrator))
      throw notFound('Namespace')
    return { ...namespaceOfUser(user), ...(user.id === actor.id && { counts: { membersWithin: 1 } }) }
  },
)

/** Returns the namespaces of groups by id, those that the actor owns with their counts. */
async function countedGroups(
  context: OperationContext & ReadContext,
  groups: readonly Group[],
): Promise<ReadonlyMap<number, CountedNamespace>> {
  const standings = await standingsOf(context, context.actor, groups)
  const owned = groups.filter((_, index) => can(standings[index]!, 'admin_group'))
  const counts = await countsOfGroups(context, owned)
  const countsOf = new Map(owned.map(({ id }, index) => [id, counts[index]]))
  return new Map(groups.map((group) => [group.id, { ...namespaceOfGroup(group), counts: countsOf.get(group.id) }]))
}

async function findOwner(context: ReadContext, userId: number | undefined, ref: number | string) {
  if (typeof ref === 'string') return findUserByUsername(context, ref)
  return userId === undefined ? undefined : findUser(context, userId)
}

/** Returns whether a path is taken by a group or user, and suggests a free one if it is. */
export const checkNamespacePath = unscopedQuery(
  {
    name: 'checkNamespacePath',
    input: z.object({ path: z.string().min(1).max(255), parentId: z.int().optional() }),
  },
  async (context, { path, parentId }): Promise<{ readonly exists: boolean; readonly suggests: readonly string[] }> => {
    const parent = parentId === undefined ? '' : await pathOfVisibleGroup(context, parentId)
    if (parent === undefined || !(await isNamespacePath(context.db, parent + path)))
      return { exists: false, suggests: [] }
    for (let suffix = 1; suffix <= MAX_SUFFIX; suffix++) {
      if (!(await isPathInUse(context.db, `${parent}${path}${suffix}`)))
        return { exists: true, suggests: [`${path}${suffix}`] }
    }
    return { exists: true, suggests: [] }
  },
)

/** The most attempts to find a free path. */
const MAX_SUFFIX = 20

/** Returns the prefix that all paths in the group have; `undefined` if the actor may not see the group. */
async function pathOfVisibleGroup(context: OperationContext & ReadContext, id: number): Promise<string | undefined> {
  const group = await findGroup(context, id)
  if (group === undefined) return undefined
  return canSee(await standingOf(context, context.actor, group)) ? `${group.fullPath}/` : undefined
}
