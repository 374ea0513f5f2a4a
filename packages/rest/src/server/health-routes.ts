import { type Core, requireDatabase } from '@penstock/core'
import { type Reply, type RouteRequest, type ServedRoute, unguarded } from '@penstock/http'

const ok = { status: 'ok' } as const

/** The paths of these routes, which are also served when there are too many connections. */
export const healthPaths = ['/-/health', '/-/liveness', '/-/readiness'] as const

/** Returns the routes by which GitLab's clients and load balancers ask whether the service works. */
export function healthRoutes(core: Core): ServedRoute[] {
  const page = (path: (typeof healthPaths)[number], handle: (request: RouteRequest) => Promise<Reply>) =>
    ({ method: 'GET', path, access: undefined, handle }) as const
  return unguarded([
    page('/-/health', async () => ({ status: 200, content: 'GitLab OK', contentType: 'text/plain; charset=utf-8' })),
    page('/-/liveness', async () => ({ status: 200, json: ok })),
    page('/-/readiness', async ({ query }) => readiness(core, query.all === '1')),
  ])
}

/** Returns the result of each check: whether the process serves requests, and with `all`, whether the database does. */
async function readiness(core: Core, all: boolean): Promise<Reply> {
  const database = await requireDatabase(core).then(
    () => ok,
    () => ({ status: 'failed', message: 'The database cannot be reached' }) as const,
  )
  const isReady = database.status === 'ok'
  const checks = { master_check: [ok], ...((all || !isReady) && { db_check: [database] }) }
  return { status: isReady ? 200 : 503, json: { status: isReady ? 'ok' : 'failed', ...checks } }
}
