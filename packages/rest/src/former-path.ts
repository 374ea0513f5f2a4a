import { type Actor, type Core, DomainError, findFormerProject, type Project, requirePermission } from '@penstock/core'
import type { RouteRequest } from '@penstock/http'
import { restName } from './parameter-names.ts'
import { RestError } from './rest-error.ts'
import type { RestRoute } from './route.ts'

interface Asked {
  /** With its prefix, as it is served. */
  readonly routePath: string
  readonly request: RouteRequest
  readonly core: Core
  readonly actor: Actor
}

/**
 * Tells whoever used a path that a project had once where it is now, if they may see it there. Says nothing where there
 * was none, so that the failure at hand stays what it is.
 *
 * @see spec/rest-part2-details.md 1.2
 * @throws RestError 301 for what only reads, else 405
 */
export async function redirectFormerPath(row: RestRoute, { failure }: DomainError, asked: Asked): Promise<void> {
  if (failure.code !== 'not_found' || failure.what !== 'Project') return
  const { request, routePath } = asked
  const name = restName('project', row.names)
  const path = request.params[name]
  if (path?.includes('/') !== true) return
  const project = await findVisibleFormer(path, asked)
  if (project === undefined) return
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new RestError(405, { message: 'Non GET methods are not allowed for moved projects' })
  }
  const segments = request.path.split('/')
  segments[routePath.split('/').indexOf(`:${name}`)] = String(project.id)
  const url = `${asked.core.settings.externalUrl}${segments.join('/')}${request.search}`
  throw new RestError(301, `This resource has been moved permanently to ${url}`, { Location: url })
}

async function findVisibleFormer(path: string, { core, actor }: Asked): Promise<Project | undefined> {
  const reading = { db: core.db.read, nowMs: core.clock.nowMs() }
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
