import { can } from '../access/can.ts'
import type { Permission } from '../access/permission-table.ts'
import { standingsOf } from '../access/subject.ts'
import type { OperationContext, ReadContext } from '../kit/context.ts'
import type { Project } from '../projects/project.ts'
import { findProjects } from '../projects/project-store.ts'
import type { MergeRequest } from './merge-request.ts'

type OfProject = Pick<MergeRequest, 'projectId'>

export async function projectsOf(context: ReadContext, mergeRequests: readonly OfProject[]): Promise<Project[]> {
  const ids = mergeRequests.map(({ projectId }) => projectId)
  return [...(await findProjects(context, ids)).values()]
}

/** By id, those of the projects in which the actor may do it. */
export async function projectsAllowing(
  context: OperationContext & ReadContext,
  mergeRequests: readonly OfProject[],
  permission: Permission,
): Promise<ReadonlyMap<number, Project>> {
  const projects = await projectsOf(context, mergeRequests)
  const standings = await standingsOf(context, context.actor, projects)
  const allowed = projects.filter((_, index) => can(standings[index]!, permission))
  return new Map(allowed.map((project) => [project.id, project]))
}
