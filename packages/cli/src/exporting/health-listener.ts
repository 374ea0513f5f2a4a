import { apiHeaders, type Listening, listen, RequestProblem, type Route, serveRoutes, unguarded } from '@penstock/http'
import type { Log } from '@penstock/runtime'
import type { Exporting } from './exporting.ts'

const TEXT = 'text/plain; charset=utf-8'
const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/** `/metrics`, `/livez` and `/readyz` of a process that has no gateway in it. @throws the system's error */
export function listenForHealth(
  address: { readonly host: string; readonly port: number },
  exporting: Pick<Exporting, 'metrics' | 'isReady'>,
  log: Log,
): Promise<Listening> {
  const page = (path: string, content: () => Promise<string>, contentType = TEXT): Route<undefined, undefined> => ({
    method: 'GET',
    path,
    access: undefined,
    handle: async () => ({ status: 200, content: await content(), contentType }),
  })
  const ready: Route<undefined, undefined> = {
    ...page('/readyz', async () => ''),
    handle: async () =>
      (await exporting.isReady())
        ? { status: 200, content: 'ready\n', contentType: TEXT }
        : { status: 503, content: 'not ready\n', contentType: TEXT },
  }
  const routes = unguarded([
    page('/livez', async () => 'ok\n'),
    ready,
    page('/metrics', async () => exporting.metrics(), PROMETHEUS_TEXT),
  ])
  const app = serveRoutes(routes, {
    headers: apiHeaders,
    log,
    renderError: (error) => {
      const isTheirs = error instanceof RequestProblem
      const status = !isTheirs ? 500 : error.wrong.kind === 'method_not_allowed' ? 405 : 404
      return { status, headers: isTheirs ? error.headers : {}, content: '', contentType: TEXT }
    },
  })
  return listen(app, address)
}
