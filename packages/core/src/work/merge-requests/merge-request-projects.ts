import { can } from '../../base/access/can.ts'
import type { Permission } from '../../base/access/permission-table.ts'
import { standingsOf } from '../../base/access/subject.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { findProjects } from '../../identity/projects/project-store.ts'
import type { MergeRequest } from './merge-request.ts'

type WithProjectId = Pick<MergeRequest, 'projectId'>

export async function projectsOf(context: ReadContext, mergeRequests: readonly WithProjectId[]): Promise<Project[]> {
  const ids = mergeRequests.map(({ projectId }) => projectId)
  return [...(await findProjects(context, ids)).values()]
}

/** Returns the projects of the merge requests in a map by id, without those in which the actor lacks the permission. */
export async function projectsAllowing(
  context: OperationContext & ReadContext,
  mergeRequests: readonly WithProjectId[],
  permission: Permission,
): Promise<ReadonlyMap<number, Project>> {
  const projects = await projectsOf(context, mergeRequests)
  const standings = await standingsOf(context, context.actor, projects)
  const allowed = projects.filter((_, index) => can(standings[index]!, permission))
  return new Map(allowed.map((project) => [project.id, project]))
}
