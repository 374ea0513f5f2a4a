import { listen, parsePathParameters, type ServedRoute, serveRoutes, withPathParameters } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { areas } from '../areas.ts'

const rows = areas.flatMap(({ routes }) => routes)

test('each route is reached by its own path, and no earlier route takes its requests', async () => {
  const routes = rows.map(
    ({ method, path, endsInName }): ServedRoute => ({
      method,
      path: `${path}${endsInName ? '' : '{.json}'}`,
      body: undefined,
      admit: async () => ({ handle: () => ({ status: 200, json: `${method} ${path}` }) }),
    }),
  )
  const renderError = () => ({ status: 404 })
  const listener = serveRoutes(routes, { renderError, headers: {}, log: silentLog, takesTrailingSlash: true })
  const server = await listen(listener, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close(AbortSignal.abort()))
  for (const { method, path } of rows) {
    const spanning = new Set(parsePathParameters(path).flatMap((each) => (each.spansSegments ? [each.name] : [])))
    for (const fill of [(name: string) => name, (name: string) => (spanning.has(name) ? `${name}/of/x` : name)]) {
      const reply = await fetch(server.url + withPathParameters(path, fill), { method })
      expect(await reply.json(), path).toBe(`${method} ${path}`)
    }
  }
})
