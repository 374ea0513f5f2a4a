import type { RequestListener } from 'node:http'
import {
  apiHeaders,
  type Listening,
  listen,
  type Reply,
  RequestProblem,
  type Route,
  serveRoutes,
  unguarded,
} from '@penstock/http'
import type { Log } from '@penstock/runtime'
import type { WritableDirectory } from '../process/writable-directory.ts'
import type { Exporting } from './exporting.ts'

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

export const probePaths: readonly string[] = ['/livez', '/readyz']

type Health = Pick<Exporting, 'metrics' | 'isReady'>

/** Returns the health of a process that exports, and that writes files into the directory. */
export const processHealth = (exporting: Exporting, directory: WritableDirectory): Health => ({
  metrics: () => exporting.metrics(),
  isReady: async () => (await exporting.isReady()) && (await directory.problem()) === undefined,
})

/**
 * Serves `/metrics`, `/livez` and `/readyz` for a process without a gateway.
 * @throws the system's error if the address cannot be bound
 */
export function listenForHealth(
  address: { readonly host: string; readonly port: number },
  exporting: Health,
  log: Log,
): Promise<Listening> {
  const metrics = page('/metrics', async () => ({ ...text(200, exporting.metrics()), contentType: PROMETHEUS_TEXT }))
  const app = serveRoutes(unguarded([...probePages(exporting), metrics]), { headers: apiHeaders, log, renderError })
  return listen(app, address, { probePaths, log })
}

/** Returns a listener that answers probes on the address of the API. The rate limit of the API does not apply to it. */
export function probeListener(exporting: Health, log: Log): RequestListener {
  return serveRoutes(unguarded(probePages(exporting)), { headers: apiHeaders, log, renderError })
}

const probePages = (exporting: Health) => [
  page('/livez', async () => text(200, 'ok\n')),
  page('/readyz', async () => ((await exporting.isReady()) ? text(200, 'ready\n') : text(503, 'not ready\n'))),
]

function page(path: string, handle: () => Promise<Reply>): Route<undefined, undefined> {
  return { method: 'GET', path, access: undefined, handle }
}

const text = (status: number, content: string) => ({ status, content, contentType: 'text/plain; charset=utf-8' })

/** Renders errors. The only errors that a client can cause are a wrong path and a wrong method. */
function renderError(error: unknown): Reply {
  if (!(error instanceof RequestProblem)) return text(500, '')
  return { ...text(error.problem.kind === 'method_not_allowed' ? 405 : 404, ''), headers: error.headers }
}
