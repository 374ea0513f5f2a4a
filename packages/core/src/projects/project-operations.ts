import { z } from 'zod'
import { canSee } from '../access/can.ts'
import { requirePermission, standingOf } from '../access/subject.ts'
import { findGroup, getGroup } from '../groups/group-store.ts'
import { validatePath } from '../groups/path-validation.ts'
import { moveRoutes } from '../groups/route-store.ts'
import { DomainError, forbidden, invalid, notFound } from '../kit/domain-error.ts'
import { type KeysetPage, mapKeysetPage, mapPage, type Page } from '../kit/page.ts'
import { namespaceRef } from '../kit/parameter-schemas.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { setMember } from '../members/member-store.ts'
import { accessLevels } from '../model/access-level.ts'
import { type Group, isMoreOpen } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { Actor } from '../model/user.ts'
import { type ActingUser, userNamespaceId, userOfNamespace } from '../model/user.ts'
import type { OperationContext, Tx } from '../operations/context.ts'
import { command, query, steps, unscopedQuery, unscopedSteps } from '../operations/operation.ts'
import { requireCommitter } from '../repositories/commit-operations.ts'
import { initializeRepository } from '../repositories/commit-to-branch.ts'
import { requireDefaultBranch } from '../repositories/default-branch.ts'
import { findUser, findUserByUsername } from '../users/user-store.ts'
import { type ProjectListInput, projectChangesInput, projectDraftInput, projectListInput } from './project-input.ts'
import { conditionsOfActor, listProjectRows, type ProjectFilter } from './project-list-store.ts'
import { deleteProjectsOf, getProject, insertProject, type ProjectChanges, updateProjectRow } from './project-store.ts'
import type { ProjectView } from './project-view.ts'
import { viewOf, viewsOf } from './project-view-store.ts'

const subject = (context: ReadContext, { project }: { readonly project: number | string }) =>
  getProject(context, project)
const oneProject = z.object({ project: namespaceRef })

export const listProjects = unscopedQuery(
  { name: 'listProjects', caller: 'anyone', input: z.object(projectListInput) },
  (context, input) => pageOfProjects(context, input, {}),
)

export const listGroupProjects = query(
  {
    name: 'listGroupProjects',
    caller: 'anyone',
    input: z.object({ group: namespaceRef, includeSubgroups: z.boolean().default(false), ...projectListInput }),
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
    const { user: ref } = input
    const user = await (typeof ref === 'number' ? findUser(context, ref) : findUserByUsername(context, ref))
    if (user === undefined) throw notFound('User')
    return pageOfProjects(context, input, { ownerId: user.id })
  },
)

export const showProject = query(
  { name: 'showProject', caller: 'anyone', input: oneProject, permission: 'read_project', subject },
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
        await initializeRepository(context.core, project, await requireCommitter(context))
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
  { path, project: _, ...changes }: z.output<typeof projectChangesInput>,
): Promise<ProjectView> {
  // The role may have ended since the operation began.
  const project = await getProject(tx, id)
  await requirePermission(tx, project, 'admin_project')
  const { visibility, name, description, defaultBranch, requestAccessEnabled } = changes
  if (visibility !== undefined && visibility !== project.visibility)
    await requirePermission(tx, project, 'change_project_visibility')
  if (visibility !== undefined && project.groupId !== undefined)
    requireNotMoreOpen(visibility, await getGroup(tx, project.groupId))
  const moved = path === undefined ? {} : await move(tx, project, { path })
  const updated = await updateProjectRow(tx, project.id, {
    ...moved,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description ?? undefined }),
    ...(visibility !== undefined && { visibility }),
    ...(defaultBranch !== undefined && { defaultBranch }),
    ...(requestAccessEnabled !== undefined && { requestAccessEnabled }),
  })
  await tx.recordEvent({ type: 'project.updated', objectId: project.id, projectId: project.id })
  return viewOf(tx, tx.actor, updated)
}

export const removeProject = command(
  { name: 'removeProject', input: oneProject, permission: 'remove_project', subject },
  async (tx): Promise<Project> => {
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
    const moved = await move(tx, project, { parent })
    const visibility =
      'kind' in parent && isMoreOpen(project.visibility, parent.visibility) ? parent.visibility : project.visibility
    const updated = await updateProjectRow(tx, project.id, { ...moved, visibility })
    if (!('kind' in parent)) await setMember(tx, updated, { userId: parent.id, level: accessLevels.owner })
    const details = { from: project.fullPath }
    await tx.recordEvent({ type: 'project.transferred', objectId: project.id, projectId: project.id, details })
    return viewOf(tx, tx.actor, updated)
  },
)

function archiveOperation(name: string, isArchived: boolean) {
  return command({ name, input: oneProject, permission: 'archive_project', subject }, async (tx) => {
    const { id } = tx.subject
    const project = await updateProjectRow(tx, id, { isArchived })
    const type = isArchived ? 'project.archived' : 'project.unarchived'
    await tx.recordEvent({ type, objectId: id, projectId: id })
    return viewOf(tx, tx.actor, project)
  })
}

async function insertFromDraft(
  tx: OperationContext & Tx,
  {
    namespaceId,
    visibility,
    description,
    defaultBranch,
    requestAccessEnabled,
    ...names
  }: Omit<z.output<typeof projectDraftInput>, 'initializeWithReadme'>,
): Promise<Project> {
  const actor = tx.actor!
  // A bot has no namespace of its own to create projects in.
  if (actor.botHome !== undefined && namespaceId == null) throw forbidden()
  const parent = await getTargetNamespace(tx, namespaceId ?? userNamespaceId(actor.id))
  const name = names.name ?? names.path!
  const path = names.path ?? pathOf(name)
  const wrong = await validatePath(tx, { path, within: fullPathOf(parent) })
  if (wrong !== undefined) throw invalid({ path: [wrong] })
  requireNotMoreOpen(visibility, parent)
  const created = await insertProject(tx, {
    parent,
    path,
    name,
    visibility,
    creatorId: actor.id,
    ...(description != null && { description }),
  })
  const project = await updateProjectRow(tx, created.id, {
    requestAccessEnabled,
    ...(defaultBranch != null && { defaultBranch }),
  })
  await tx.recordEvent({ type: 'project.created', objectId: project.id, projectId: project.id })
  return project
}

async function remove(tx: Tx, { id, fullPath }: Project): Promise<void> {
  await deleteProjectsOf(tx, { id })
  await tx.recordEvent({ type: 'project.removed', objectId: id, details: { path: fullPath } })
}

async function pageOfProjects(
  context: OperationContext & ReadContext,
  input: ProjectListInput,
  which: Pick<ProjectFilter, 'within' | 'ownerId'>,
): Promise<Page<ProjectView> | KeysetPage<ProjectView>> {
  const filter: ProjectFilter = {
    ...which,
    search: input.search || undefined,
    visibility: input.visibility,
    isArchived: input.archived,
    idAfter: input.idAfter,
    idBefore: input.idBefore,
    lastActivityAfterMs: input.lastActivityAfter,
    lastActivityBeforeMs: input.lastActivityBefore,
    where: conditionsOfActor(context, context.actor, input),
  }
  const order = { by: input.orderBy, direction: input.sort }
  const page = await listProjectRows(context, filter, order, input, input.pagination === 'keyset')
  const views = await viewsOf(context, context.actor, page.items)
  const viewById = new Map(views.map((view) => [view.project.id, view]))
  const view = ({ id }: Project) => viewById.get(id)!
  return 'nextCursor' in page ? mapKeysetPage(page, view) : mapPage(page, view)
}

/** Returns the namespace of a new project. As on GitLab, a forbidden one is answered like a missing one. */
async function getTargetNamespace(tx: OperationContext & Tx, namespaceId: number): Promise<Group | ActingUser> {
  const notValid = invalid({ namespace: ['is not valid'] })
  const parent = await namespaceOf(tx, namespaceId)
  if (parent === undefined) throw notValid
  if ('kind' in parent)
    await requirePermission(tx, parent, 'create_project').catch((error) => {
      throw error instanceof DomainError ? notValid : error
    })
  else if (!canUseNamespace(tx.actor, parent)) throw notValid
  return parent
}

/** Returns whether the actor may create projects in the user's namespace: only in their own, and a bot has none. */
const canUseNamespace = (actor: Actor, { id, botHome }: ActingUser): boolean =>
  botHome === undefined && (actor?.id === id || actor?.isAdministrator === true)

async function namespaceOf(context: ReadContext, ref: number | string): Promise<Group | ActingUser | undefined> {
  if (typeof ref === 'string') return (await findGroup(context, ref)) ?? findUserByUsername(context, ref)
  const userId = userOfNamespace(ref)
  return userId === undefined ? findGroup(context, ref) : findUser(context, userId)
}

const fullPathOf = (parent: Group | ActingUser): string => ('kind' in parent ? parent.fullPath : parent.username)

/** Returns the path for a name: characters that a path cannot contain become `-`. */
const pathOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')

function requireNotMoreOpen(visibility: Project['visibility'], parent: Group | ActingUser): void {
  if (!('kind' in parent) || !isMoreOpen(visibility, parent.visibility)) return
  throw invalid({ visibilityLevel: [`${visibility} is not allowed in a ${parent.visibility} group.`] })
}

/** Moves the routes of a project, and returns the changes to its row. */
async function move(
  tx: Tx,
  project: Project,
  to: { readonly path?: string; readonly parent?: Group | ActingUser },
): Promise<ProjectChanges> {
  const path = to.path ?? project.path
  const within = to.parent === undefined ? project.fullPath.slice(0, -project.path.length - 1) : fullPathOf(to.parent)
  const fullPath = `${within}/${path}`
  if (fullPath === project.fullPath) return {}
  const wrong = await validatePath(tx, { path, within, formerly: project.fullPath })
  if (wrong !== undefined) throw invalid({ path: [wrong] })
  await moveRoutes(tx.db, project.fullPath, fullPath)
  return { path, fullPath, ...(to.parent !== undefined && { parent: to.parent }) }
}
