import { z } from 'zod'
import { canSee } from '../../base/access/can.ts'
import { requirePermission, standingOf } from '../../base/access/subject.ts'
import { DomainError, forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { isMoreOpen } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import { userNamespaceId } from '../../base/model/user.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { command, query, steps, unscopedSteps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { newVisibility, requireUnrestricted } from '../../base/settings/visibility-settings.ts'
import { avatarFrom } from '../../identity/avatars/avatar.ts'
import { saveAvatar } from '../../identity/avatars/avatar-store.ts'
import { getGroup } from '../../identity/groups/group-store.ts'
import { deleteAccessRequestsFor } from '../../identity/members/access-request-table.ts'
import { setMember } from '../../identity/members/member-store.ts'
import { validatePath } from '../../identity/paths/path-validation.ts'
import { pathOfName } from '../../identity/projects/path-of-name.ts'
import { projectEvents } from '../../identity/projects/project-events.ts'
import {
  type ProjectChangesInput,
  type ProjectDraftInput,
  projectChangesInput,
  projectDraftInput,
} from '../../identity/projects/project-input.ts'
import {
  canUseNamespace,
  fullPathOf,
  getTargetNamespace,
  move,
  namespaceOf,
  requireNotMoreOpen,
  requireProjectsLimit,
} from '../../identity/projects/project-namespace.ts'
import { newSettings, withSettings } from '../../identity/projects/project-settings-input.ts'
import { deleteProjectsOf, getProject, insertProject, updateProjectRow } from '../../identity/projects/project-store.ts'
import type { ProjectView } from '../../identity/projects/project-view.ts'
import { viewOf } from '../../identity/projects/project-view-store.ts'
import { saveTopics } from '../../identity/projects/topic-store.ts'
import { requireCommitter } from '../repositories/commit-operations.ts'
import { initializeRepository } from '../repositories/commit-to-branch.ts'
import { requireDefaultBranch } from '../repositories/default-branch.ts'

const subject = (context: ReadContext, { project }: { readonly project: number | string }) =>
  getProject(context, project)
const oneProject = z.object({ project: namespaceRef })

export const showProject = query(
  {
    name: 'showProject',
    caller: 'anyone',
    input: oneProject,
    permission: 'read_project',
    subject,
  },
  (context) => viewOf(context, context.actor, context.subject),
)

/** Returns the project alone, without the related data of `showProject`. */
export const locateProject = query(
  { name: 'locateProject', caller: 'anyone', input: oneProject, permission: 'read_project', subject },
  async ({ subject: project }) => project,
)

/**
 * Creates a project. With `initializeWithReadme` it returns after the first commit; if the commit fails, the project is
 * removed again. If the process ends in between, a project without a commit remains.
 */
export const createProject = unscopedSteps(
  { name: 'createProject', input: projectDraftInput },
  async (context, { initializeWithReadme, ...draft }) => {
    const project = await context.write((tx) => insertFromDraft(tx, draft))
    if (initializeWithReadme) {
      try {
        await initializeRepository(context, project, await requireCommitter(context))
      } catch (error) {
        await context.write((tx) => remove(tx, project))
        throw error
      }
    }
    return viewOf(context, context.actor, await getProject(context, project.id))
  },
)

/** Changes a project. The old path of a renamed project redirects to it until another project takes the path. */
export const updateProject = steps(
  { name: 'updateProject', input: projectChangesInput, permission: 'admin_project', subject },
  async (context, changes) => {
    const { core, subject: project } = context
    if (changes.defaultBranch !== undefined && changes.defaultBranch !== project.defaultBranch)
      await requireDefaultBranch(core, project, changes.defaultBranch)
    return context.write((tx) => applyChanges(tx, project.id, changes))
  },
)

async function applyChanges(
  tx: OperationContext & Tx,
  id: number,
  { path, project: _, ...changes }: ProjectChangesInput,
): Promise<ProjectView> {
  // The role may have ended since the operation began.
  const project = await getProject(tx, id)
  await requirePermission(tx, project, 'admin_project')
  const { visibility, name, description, defaultBranch, requestAccessEnabled } = changes
  if (visibility !== undefined && visibility !== project.visibility) {
    await requirePermission(tx, project, 'change_project_visibility')
    await requireUnrestricted(tx, visibility)
  }
  if (visibility !== undefined && project.groupId !== undefined)
    requireNotMoreOpen(visibility, await getGroup(tx, project.groupId))
  const avatar = avatarFrom(changes.avatar)
  const topics = changes.topics ?? changes.tagList
  const moved = path === undefined ? {} : await move(tx, project, { path })
  const updated = await updateProjectRow(tx, project.id, {
    ...moved,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description ?? undefined }),
    ...(visibility !== undefined && { visibility }),
    ...(defaultBranch !== undefined && { defaultBranch }),
    ...(requestAccessEnabled !== undefined && { requestAccessEnabled }),
    ...withSettings(project, changes),
    ...(avatar !== undefined && { avatar: await saveAvatar(tx, project, avatar) }),
  })
  if (topics !== undefined) await saveTopics(tx, id, topics)
  await recordChange(tx, projectEvents, 'updated', { before: project, after: updated, projectId: project.id })
  return viewOf(tx, tx.actor, updated)
}

export const removeProject = command(
  { name: 'removeProject', input: oneProject, permission: 'remove_project', subject, isConditional: true },
  async (tx): Promise<Project> => {
    const { isAdministrator } = await standingOf(tx, tx.actor, tx.subject)
    if (!isAdministrator && (await settingOf(tx.core, 'default_project_deletion_protection'))) throw forbidden()
    tx.requireUnmodified(tx.subject.lastActivityAtMs)
    await remove(tx, tx.subject)
    return tx.subject
  },
)

export const archiveProject = archiveOperation('archiveProject', true)
export const unarchiveProject = archiveOperation('unarchiveProject', false)

/** Moves a project to a group, or to the actor's own namespace. Its visibility is reduced to that of the group. */
export const transferProject = command(
  {
    name: 'transferProject',
    input: z.object({ project: namespaceRef, namespace: namespaceRef }),
    permission: 'transfer_project',
    subject,
  },
  async (tx, { namespace }) => {
    const { subject: project } = tx
    const parent = await namespaceOf(tx, namespace)
    if (parent === undefined) throw notFound('Namespace')
    if ('kind' in parent) {
      // The same answer as for a namespace that does not exist.
      if (!canSee(await standingOf(tx, tx.actor, parent))) throw notFound('Namespace')
      await requirePermission(tx, parent, 'create_project')
    }
    if (!('kind' in parent) && !canUseNamespace(tx.actor, parent)) throw notFound('Namespace')
    if ('kind' in parent ? parent.id === project.groupId : parent.id === project.ownerId)
      throw new DomainError({ code: 'refused', message: 'Project is already in this namespace.' })
    if (!('kind' in parent)) await requireProjectsLimit(tx, parent)
    const moved = await move(tx, project, { parent })
    const visibility =
      'kind' in parent && isMoreOpen(project.visibility, parent.visibility) ? parent.visibility : project.visibility
    const updated = await updateProjectRow(tx, project.id, { ...moved, visibility })
    // Other people decide in the new place, and other people see it.
    await deleteAccessRequestsFor(tx, updated)
    if (!('kind' in parent)) await setMember(tx, updated, { userId: parent.id, level: accessLevels.owner })
    const details = { from: project.fullPath }
    const change = { before: project, after: updated, projectId: project.id, details }
    await recordChange(tx, projectEvents, 'transferred', change)
    return viewOf(tx, tx.actor, updated)
  },
)

function archiveOperation(name: string, isArchived: boolean) {
  return command({ name, input: oneProject, permission: 'archive_project', subject }, async (tx) => {
    const { subject: before } = tx
    const project = await updateProjectRow(tx, before.id, { isArchived })
    const change = { before, after: project, projectId: project.id }
    await recordChange(tx, projectEvents, isArchived ? 'archived' : 'unarchived', change)
    return viewOf(tx, tx.actor, project)
  })
}

async function insertFromDraft(
  tx: OperationContext & Tx,
  {
    namespaceId,
    visibility: wantedVisibility,
    description,
    defaultBranch,
    requestAccessEnabled,
    ...draft
  }: Omit<ProjectDraftInput, 'initializeWithReadme'>,
): Promise<Project> {
  const actor = tx.actor!
  // A bot has no namespace of its own to create projects in.
  if (actor.botHome !== undefined && namespaceId == null) throw forbidden()
  const parent = await getTargetNamespace(tx, namespaceId ?? userNamespaceId(actor.id))
  await requireProjectsLimit(tx, parent)
  const name = draft.name ?? draft.path!
  const path = draft.path ?? pathOfName(name)
  const avatar = avatarFrom(draft.avatar)
  const topics = draft.topics ?? draft.tagList
  const settings = newSettings(draft)
  const wrong = await validatePath(tx, { path, within: fullPathOf(parent) })
  if (wrong !== undefined) throw invalid({ path: [wrong] })
  const within = 'kind' in parent ? parent.visibility : undefined
  const visibility = await newVisibility(tx, wantedVisibility, { kind: 'project', within })
  requireNotMoreOpen(visibility, parent)
  const created = await insertProject(tx, {
    parent,
    path,
    name,
    visibility,
    creatorId: actor.id,
    ...(description != null && { description }),
  })
  const groupDefault = 'kind' in parent ? parent.defaultBranch : undefined
  const branch = defaultBranch ?? groupDefault ?? (await settingOf(tx.core, 'default_branch_name'))
  const project = await updateProjectRow(tx, created.id, {
    requestAccessEnabled,
    ...settings,
    ...(branch !== undefined && { defaultBranch: branch }),
    ...(avatar !== undefined && { avatar: await saveAvatar(tx, created, avatar) }),
  })
  if (topics !== undefined) await saveTopics(tx, project.id, topics)
  await recordChange(tx, projectEvents, 'created', { after: project, projectId: project.id })
  return project
}

async function remove(tx: Tx, project: Project): Promise<void> {
  await deleteProjectsOf(tx, { id: project.id })
  await recordChange(tx, projectEvents, 'removed', { before: project, details: { path: project.fullPath } })
}
