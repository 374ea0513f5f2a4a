import { z } from 'zod'
import { never } from '../../base/kit/conditions.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type KeysetPage, mapKeysetPage, mapPage, type Page } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { query, unscopedQuery } from '../../base/operations/operation.ts'
import { isAnonymous, rateOf } from '../../base/settings/rate-of.ts'
import { getGroup } from '../groups/group-store.ts'
import { profileOf } from '../users/user-profile.ts'
import { findUser, findUserByUsername } from '../users/user-store.ts'
import { type ProjectListInput, projectListInput } from './project-input.ts'
import { conditionsOfActor, enabledFeatures, listProjectRows, type ProjectFilter } from './project-list-store.ts'
import { sizeOrders } from './project-order.ts'
import { isStarredBy } from './project-star-store.ts'
import type { ProjectView } from './project-view.ts'
import { viewsOf } from './project-view-store.ts'

export const listProjects = unscopedQuery(
  {
    name: 'listProjects',
    caller: 'anyone',
    input: z.object(projectListInput),
    limits: [
      {
        name: 'projects_api_unauthenticated',
        per: ['address'],
        periodSeconds: 600,
        count: rateOf('projects_api_rate_limit_unauthenticated', isAnonymous),
      },
    ],
  },
  (context, input) => pageOfProjects(context, input, {}),
)

export const listGroupProjects = query(
  {
    name: 'listGroupProjects',
    caller: 'anyone',
    input: z.object({
      group: namespaceRef,
      includeSubgroups: z.boolean().default(false),
      ...projectListInput,
    }),
    permission: 'read_group',
    subject: (context, { group }) => getGroup(context, group),
  },
  (context, input) =>
    pageOfProjects(context, input, {
      within: { group: context.subject, depth: input.includeSubgroups ? 'any' : 'direct' },
    }),
)

/** Lists the projects in the namespace of a user, given by id or username. */
export const listUserProjects = unscopedQuery(
  { name: 'listUserProjects', caller: 'anyone', input: z.object({ user: namespaceRef, ...projectListInput }) },
  async (context, input) => {
    const { id } = await namedUser(context, input.user)
    return pageOfProjects(context, input, { ownerId: id })
  },
)

/** Lists the projects that a user, given by id or username, has starred. The list of a private profile is empty. */
export const listStarredProjects = unscopedQuery(
  { name: 'listStarredProjects', caller: 'anyone', input: z.object({ user: namespaceRef, ...projectListInput }) },
  async (context, input) => {
    const user = await namedUser(context, input.user)
    const isHidden = user.settings.privateProfile && !profileOf(user, context.actor).isWhole
    return pageOfProjects(context, input, isHidden ? { ids: [] } : { starredBy: user.id })
  },
)

async function namedUser(context: ReadContext, ref: number | string): Promise<User> {
  const user = await (typeof ref === 'number' ? findUser(context, ref) : findUserByUsername(context, ref))
  if (user === undefined) throw notFound('User')
  return user
}

async function pageOfProjects(
  context: OperationContext & ReadContext,
  input: ProjectListInput,
  which: Pick<ProjectFilter, 'within' | 'ownerId' | 'starredBy' | 'ids'>,
): Promise<Page<ProjectView> | KeysetPage<ProjectView>> {
  const { actor } = context
  const isEmpty =
    (input.starred && actor === undefined) ||
    input.imported ||
    (input.markedForDeletionOn ?? '') !== '' ||
    (input.repositoryStorage ?? STORAGE) !== STORAGE
  const filter: ProjectFilter = {
    ...which,
    search: input.search || undefined,
    visibility: input.visibility,
    searchesNamespaces: input.searchNamespaces,
    isArchived: input.archived ?? (input.active === undefined ? undefined : !input.active),
    topics: input.topic?.filter((name) => name !== ''),
    features: enabledFeatures(input),
    idAfter: input.idAfter,
    idBefore: input.idBefore,
    lastActivityAfterMs: later(input.lastActivityAfter, input.updatedAfter),
    lastActivityBeforeMs: earlier(input.lastActivityBefore, input.updatedBefore),
    where: [
      ...conditionsOfActor(context, actor, input),
      ...(input.starred && actor !== undefined ? [isStarredBy(actor.id)] : []),
      ...(isEmpty ? [never] : []),
    ],
  }
  // As on GitLab, others get the default order.
  const isForAdministrators = sizeOrders.some((order) => order === input.orderBy)
  const by = isForAdministrators && !actor?.isAdministrator ? 'created_at' : input.orderBy
  const order = { by, direction: input.sort }
  const page = await listProjectRows(context, filter, order, input, input.pagination === 'keyset')
  const views = await viewsOf(context, context.actor, page.items)
  const viewById = new Map(views.map((view) => [view.project.id, view]))
  const view = ({ id }: Project) => viewById.get(id)!
  return 'nextCursor' in page ? mapKeysetPage(page, view) : mapPage(page, view)
}

/** The name of the only storage of repositories. */
const STORAGE = 'default'

/** The last activity of a project is its last change, so both pairs of parameters limit the same time. */
const later = (a: number | undefined, b: number | undefined) => limitOf(Math.max, a, b)
const earlier = (a: number | undefined, b: number | undefined) => limitOf(Math.min, a, b)
function limitOf(choose: (...values: number[]) => number, ...values: (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined)
  return given.length === 0 ? undefined : choose(...given)
}
