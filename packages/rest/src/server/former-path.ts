import {
  type Actor,
  type Core,
  DomainError,
  findFormerProject,
  type Project,
  readContextOf,
  requirePermission,
} from '@penstock/core'
import type { RouteRequest } from '@penstock/http'
import { restName } from '../routing/parameter-names.ts'
import { RestError } from '../routing/rest-error.ts'
import type { RestRoute } from '../routing/route.ts'

interface FailedRequest {
  /** The path of the route, including the API prefix. */
  readonly routePath: string
  readonly request: RouteRequest
  readonly core: Core
  readonly actor: Actor
}

/**
 * Redirects a request that used the former path of a moved project, if the caller may see the project. Otherwise returns,
 * so that the original failure is reported.
 *
 * @throws RestError 301 for GET and HEAD, 405 for other methods
 */
export async function redirectFormerPath(
  row: RestRoute,
  { failure }: DomainError,
  failed: FailedRequest,
): Promise<void> {
  if (failure.code !== 'not_found' || failure.what !== 'Project') return
  const { request, routePath } = failed
  const name = restName('project', row.names)
  const path = request.params[name]
  if (path?.includes('/') !== true) return
  const project = await findVisibleProject(path, failed)
  if (project === undefined) return
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new RestError(405, { message: 'Non GET methods are not allowed for moved projects' })
  }
  const segments = request.path.split('/')
  segments[routePath.split('/').indexOf(`:${name}`)] = String(project.id)
  const url = `${failed.core.settings.externalUrl}${segments.join('/')}${request.search}`
  throw new RestError(301, `This resource has been moved permanently to ${url}`, { Location: url })
}

async function findVisibleProject(path: string, { core, actor }: FailedRequest): Promise<Project | undefined> {
  const reading = readContextOf(core)
  const project = await findFormerProject(reading, path)
  if (project === undefined) return undefined
  try {
    await requirePermission({ ...reading, actor }, project, 'read_project')
    return project
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
}
