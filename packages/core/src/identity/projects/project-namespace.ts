import { requirePermission } from '../../base/access/subject.ts'
import { DomainError, invalid } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type Group, isMoreOpen } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import { type ActingUser, type Actor, type User, userOfNamespace } from '../../base/model/user.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { findGroup } from '../groups/group-store.ts'
import { validatePath } from '../paths/path-validation.ts'
import { moveRoutes } from '../paths/route-store.ts'
import { findUser, findUserByUsername } from '../users/user-store.ts'
import { countProjectsOfUser, type ProjectChanges } from './project-store.ts'

/**
 * Returns the namespace of a new project. As on GitLab, the error for a namespace that the actor may not use is the
 * same as for a missing one.
 */
export async function getTargetNamespace(tx: OperationContext & Tx, namespaceId: number): Promise<Group | User> {
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
export const canUseNamespace = (actor: Actor, { id, botHome }: ActingUser): boolean =>
  botHome === undefined && (actor?.id === id || actor?.isAdministrator === true)

export async function namespaceOf(context: ReadContext, ref: number | string): Promise<Group | User | undefined> {
  if (typeof ref === 'string') return (await findGroup(context, ref)) ?? findUserByUsername(context, ref)
  const userId = userOfNamespace(ref)
  return userId === undefined ? findGroup(context, ref) : findUser(context, userId)
}

export const fullPathOf = (parent: Group | ActingUser): string => ('kind' in parent ? parent.fullPath : parent.username)

export function requireNotMoreOpen(visibility: Project['visibility'], parent: Group | ActingUser): void {
  if (!('kind' in parent) || !isMoreOpen(visibility, parent.visibility)) return
  throw invalid({ visibilityLevel: [`${visibility} is not allowed in a ${parent.visibility} group.`] })
}

/** Rejects a further project in the namespace of a user who has as many as allowed. @throws DomainError `invalid` */
export async function requireProjectsLimit(tx: Tx, namespace: Group | User): Promise<void> {
  if ('kind' in namespace) return
  const { id, projectsLimit: limit } = namespace
  if ((await countProjectsOfUser(tx, id, limit)) < limit) return
  throw invalid({
    limitReached: [
      limit === 0
        ? 'You cannot create projects in your personal namespace. Contact your administrator.'
        : `You've reached your limit of ${limit} projects created. Contact your administrator.`,
    ],
  })
}

/** Moves the routes of a project, and returns the changes to its row. */
export async function move(
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
