import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { removeRepositories } from '../../base/git/sweep-repositories.ts'
import { never } from '../../base/kit/conditions.ts'
import { forbidden, invalid } from '../../base/kit/domain-error.ts'
import type { KeysetPage, Page } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { type Group, isMoreOpen } from '../../base/model/group.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { command, query, unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { newVisibility, requireTopLevelGroups, requireUnrestricted } from '../../base/settings/visibility-settings.ts'
import { avatarFrom } from '../avatars/avatar.ts'
import { saveAvatar } from '../avatars/avatar-store.ts'
import { groupEvents } from '../groups/group-events.ts'
import {
  type GroupListInput,
  groupChangesInput,
  groupDraftInput,
  groupListInput,
  newGroupSettings,
  withGroupSettings,
} from '../groups/group-input.ts'
import { conditionsOfActor, type GroupFilter, keysetPageOfGroups, pageOfGroups } from '../groups/group-list-store.ts'
import {
  deleteGroupRows,
  getGroup,
  insertGroup,
  renameGroupRows,
  updateGroupRow,
  visibilitiesBelow,
} from '../groups/group-store.ts'
import { insertMember } from '../members/member-store.ts'
import { validatePath } from '../paths/path-validation.ts'
import { moveRoutes } from '../paths/route-store.ts'
import { deleteProjectsOf, renameProjectsBelow } from '../projects/project-store.ts'
import { getUser } from '../users/user-store.ts'

export const listGroups = unscopedQuery(
  {
    name: 'listGroups',
    caller: 'anyone',
    input: z.object({ ...groupListInput, topLevelOnly: z.boolean().optional() }),
  },
  async (context, input) => {
    return pageOf(context, input, { isTopLevel: input.topLevelOnly })
  },
)

const aboutGroup = {
  caller: 'anyone',
  permission: 'read_group',
  subject: (context: ReadContext, { group }: { readonly group: number | string }) => getGroup(context, group),
} as const
const belowInput = z.object({ group: namespaceRef, ...groupListInput })

/** Lists the groups directly in a group. */
export const listSubgroups = query({ name: 'listSubgroups', input: belowInput, ...aboutGroup }, (context, input) =>
  groupsBelow(context, input, 'direct'),
)

/** Lists all groups below a group. */
export const listDescendantGroups = query(
  { name: 'listDescendantGroups', input: belowInput, ...aboutGroup },
  (context, input) => groupsBelow(context, input, 'any'),
)

export const showGroup = query(
  { name: 'showGroup', input: z.object({ group: namespaceRef }), ...aboutGroup },
  async ({ subject }) => subject,
)

/** Creates a group. The actor becomes its owner. */
export const createGroup = unscopedCommand(
  {
    name: 'createGroup',
    input: groupDraftInput,
  },
  async (tx, input): Promise<Group> => {
    const { parentId, name, path, description, requestAccessEnabled, defaultBranch } = input
    const parent = parentId == null ? undefined : await getGroup(tx, parentId)
    if (parent === undefined) await requireGroupCreator(tx)
    else await requirePermission(tx, parent, 'create_subgroup')
    const wrongPath = await validatePath(tx, { path, within: parent?.fullPath })
    if (wrongPath !== undefined) throw invalid({ path: [wrongPath] })
    const visibility = await newVisibility(tx, input.visibility, { kind: 'group', within: parent?.visibility })
    requireNotMoreOpen(visibility, parent)
    const draft = { parent, name, path, visibility, ...(description != null && { description }) }
    const settings = newGroupSettings({
      ...input,
      defaultBranchProtection: input.defaultBranchProtection ?? (await settingOf(tx.core, 'default_branch_protection')),
    })
    const avatar = avatarFrom(input.avatar)
    const created = await insertGroup(tx, draft)
    const group = await updateGroupRow(tx, created.id, {
      requestAccessEnabled,
      ...settings,
      ...(defaultBranch != null && { defaultBranch }),
      ...(avatar !== undefined && { avatar: await saveAvatar(tx, created, avatar) }),
    })
    const { id, botHome } = tx.actor!
    // A bot keeps the role that its own group gave it, and gets no higher one.
    if (botHome === undefined) {
      await insertMember(tx, group, { userId: id, level: accessLevels.owner, createdById: id })
    }
    await recordChange(tx, groupEvents, 'created', { after: group, groupId: group.id })
    return group
  },
)

/** Rejects bots, and users who may not create top-level groups. @throws DomainError `forbidden` */
async function requireGroupCreator(tx: OperationContext & Tx): Promise<void> {
  const { botHome, id, isAdministrator } = tx.actor!
  if (botHome !== undefined) throw forbidden()
  await requireTopLevelGroups(tx)
  if (!isAdministrator && !(await getUser(tx, id)).canCreateGroup) throw forbidden()
}

/** Updates a group. A new name or path also changes the full names and paths of everything below. */
export const updateGroup = command(
  {
    name: 'updateGroup',
    input: groupChangesInput,
    permission: 'admin_group',
    subject: aboutGroup.subject,
  },
  async (tx, input): Promise<Group> => {
    const { name, path, description, visibility, requestAccessEnabled, defaultBranch } = input
    const avatar = avatarFrom(input.avatar)
    const { subject: group } = tx
    if (visibility !== undefined && visibility !== group.visibility) {
      await requireUnrestricted(tx, visibility)
      requireNotMoreOpen(visibility, await parentOf(tx, group))
      await requireNotLessOpenThanBelow(tx, group, visibility)
    }
    await renameGroup(tx, group, { name: name ?? group.name, path: path ?? group.path })
    const updated = await updateGroupRow(tx, group.id, {
      ...(description !== undefined && { description: description ?? '' }),
      ...(visibility !== undefined && { visibility }),
      ...(requestAccessEnabled !== undefined && { requestAccessEnabled }),
      ...withGroupSettings(group, input),
      ...(defaultBranch !== undefined && { defaultBranch: defaultBranch ?? undefined }),
      ...(avatar !== undefined && { avatar: await saveAvatar(tx, group, avatar) }),
    })
    await recordChange(tx, groupEvents, 'updated', { before: group, after: updated, groupId: group.id })
    return updated
  },
)

/** Removes a group and everything below it: groups, projects, members and routes. */
export const removeGroup = command(
  {
    name: 'removeGroup',
    input: z.object({ group: namespaceRef }),
    permission: 'remove_group',
    subject: aboutGroup.subject,
  },
  async (tx): Promise<Group> => {
    const projects = await deleteProjectsOf(tx, { within: tx.subject })
    const groups = await deleteGroupRows(tx, tx.subject)
    await removeRepositories(
      tx,
      groups.map(({ id }) => ({ kind: 'group_wiki', id })),
    )
    for (const { id, fullPath } of projects)
      await tx.recordEvent({ type: 'project.removed', objectId: id, details: { path: fullPath } })
    for (const { id, fullPath } of groups)
      await tx.recordEvent({ type: 'group.removed', objectId: id, details: { path: fullPath } })
    return tx.subject
  },
)

function groupsBelow(
  context: OperationContext & ReadContext & { readonly subject: Group },
  input: GroupListInput,
  depth: 'direct' | 'any',
) {
  return pageOf(context, input, { within: { group: context.subject, depth } })
}

function pageOf(
  context: OperationContext & ReadContext,
  input: GroupListInput,
  which: Pick<GroupFilter, 'within' | 'isTopLevel'>,
): Promise<Page<Group> | KeysetPage<Group>> {
  const filter = filterOf(context, input, which)
  const order = { by: input.orderBy, direction: input.sort }
  return input.pagination === 'keyset'
    ? keysetPageOfGroups(context, filter, order, input)
    : pageOfGroups(context, filter, order, input)
}

const filterOf = (
  context: OperationContext & ReadContext,
  input: GroupListInput,
  which: Pick<GroupFilter, 'within' | 'isTopLevel'>,
): GroupFilter => ({
  ...which,
  search: input.search || undefined,
  visibility: input.visibility,
  without: input.skipGroups,
  where: [...conditionsOfActor(context, context.actor, input), ...(isEmpty(input) ? [never] : [])],
})

/** The name of the only storage of repositories. */
const STORAGE = 'default'

/**
 * Returns whether no group can match a filter, because it requires that groups are archived, inactive or stored
 * elsewhere.
 */
const isEmpty = ({ archived, active, markedForDeletionOn, repositoryStorage }: GroupListInput): boolean =>
  archived === true ||
  active === false ||
  (markedForDeletionOn ?? '') !== '' ||
  (repositoryStorage ?? STORAGE) !== STORAGE

const parentOf = async (context: ReadContext, { parentId }: Group): Promise<Group | undefined> =>
  parentId === undefined ? undefined : getGroup(context, parentId)

function requireNotMoreOpen(visibility: Group['visibility'], parent: Group | undefined): void {
  if (parent === undefined || !isMoreOpen(visibility, parent.visibility)) return
  throw invalid({
    visibilityLevel: [`${visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`],
  })
}

async function requireNotLessOpenThanBelow(tx: Tx, group: Group, visibility: Group['visibility']): Promise<void> {
  const below = await visibilitiesBelow(tx, group)
  const offenders = [
    ...(below.projects.some((each) => isMoreOpen(each, visibility)) ? ['projects'] : []),
    ...(below.groups.some((each) => isMoreOpen(each, visibility)) ? ['sub-groups'] : []),
  ]
  if (offenders.length > 0)
    throw invalid({
      visibilityLevel: offenders.map(
        (what) => `${visibility} is not allowed since this group contains ${what} with higher visibility.`,
      ),
    })
}

async function renameGroup(tx: Tx, group: Group, to: Pick<Group, 'name' | 'path'>): Promise<void> {
  if (to.path === group.path && to.name === group.name) return
  const within = group.parentId === undefined ? undefined : group.fullPath.slice(0, -group.path.length - 1)
  if (to.path !== group.path) {
    const wrong = await validatePath(tx, { path: to.path, within, formerly: group.fullPath })
    if (wrong !== undefined) throw invalid({ path: [wrong] })
    const fullPath = within === undefined ? to.path : `${within}/${to.path}`
    await moveRoutes(tx.db, group.fullPath, fullPath)
    await renameProjectsBelow(tx, group.fullPath, fullPath)
  }
  await renameGroupRows(tx, group, to)
}
