import { z } from 'zod'
import { canSee, type Standing } from '../../base/access/can.ts'
import { type Subject, standingsOf } from '../../base/access/subject.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { projectsWithRequest } from './access-request-store.ts'

/**
 * Returns whether the actor may request a role: they see the group or project and have none, and it accepts requests. Unlike
 * other rights, this one ends with the first role, and administrators do not have it.
 */
export const mayRequestAccess = (actor: Actor, subject: Subject, standing: Standing): boolean =>
  standing.isSignedIn &&
  actor?.botHome === undefined &&
  !standing.isAdministrator &&
  standing.level === 0 &&
  canSee(standing) &&
  subject.requestAccessEnabled &&
  standing.isArchived !== true

/** Tells for each project whether a request of the actor for access would succeed. */
export const mayRequestAccessToEach = unscopedBatchQuery(
  { name: 'mayRequestAccessToEach', input: z.object({}) },
  async (context, projects: readonly Project[]): Promise<boolean[]> => {
    const { actor } = context
    if (actor === undefined) return projects.map(() => false)
    const standings = await standingsOf(context, actor, projects)
    const open = projects.filter((each, index) => mayRequestAccess(actor, each, standings[index]!))
    const pending = await projectsWithRequest(
      context,
      actor.id,
      open.map(({ id }) => id),
    )
    const mayRequest = new Set(open.filter(({ id }) => !pending.has(id)))
    return projects.map((each) => mayRequest.has(each))
  },
)
