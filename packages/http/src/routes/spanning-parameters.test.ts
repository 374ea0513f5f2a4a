import { silentLog } from '@penstock/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../listening/listen.ts'
import { openApiDocument } from './openapi.ts'
import { unguarded } from './route.ts'
import { serveRoutes } from './serve-routes.ts'

const paths = ['/wikis/*slug/history', '/wikis/*slug', '/pages/:page{.json}']

async function serve(): Promise<(path: string) => Promise<unknown>> {
  const routes = paths.map((path) => ({
    method: 'GET' as const,
    path,
    access: undefined,
    handle: ({ params }: { params: Readonly<Record<string, string>> }) => ({ status: 200, json: [path, params] }),
  }))
  const renderError = () => ({ status: 404, json: 'none' })
  const options = { renderError, headers: {}, log: silentLog, takesTrailingSlash: true }
  const server = await listen(serveRoutes(unguarded(routes), options), { host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close(AbortSignal.abort()))
  return async (path) => (await fetch(server.url + path)).json()
}

test.each([
  ['/wikis/home', '/wikis/*slug', 'home'],
  ['/wikis/guides/set-up', '/wikis/*slug', 'guides/set-up'],
  ['/wikis/guides%2Fset-up', '/wikis/*slug', 'guides/set-up'],
  ['/wikis/guides%252Fset-up', '/wikis/*slug', 'guides%2Fset-up'],
  ['/wikis/guides/set-up/', '/wikis/*slug', 'guides/set-up'],
  ['/wikis/notes.json', '/wikis/*slug', 'notes.json'],
  ['/wikis/guides/history', '/wikis/*slug/history', 'guides'],
  ['/wikis/guides%2Fhistory', '/wikis/*slug', 'guides/history'],
  ['/wikis/a/history/history', '/wikis/*slug/history', 'a/history'],
])('%s matches %s', async (path, route, slug) => {
  expect(await (await serve())(path)).toEqual([route, { slug }])
})

test('a parameter of one segment matches no plain slash, and an empty slug matches nothing', async () => {
  const get = await serve()
  expect(await get('/pages/a.json')).toEqual(['/pages/:page{.json}', { page: 'a' }])
  expect(await get('/pages/a%2Fb')).toEqual(['/pages/:page{.json}', { page: 'a/b' }])
  for (const path of ['/pages/a/b', '/wikis', '/wikis/']) expect(await get(path)).toBe('none')
})

test('OpenAPI names both kinds of parameters in the same way', () => {
  const documentation = { operationId: 'x', tag: 'x', summary: 'x', responses: {} }
  const route = { method: 'GET', path: '/groups/:id/wikis/*slug', access: undefined, documentation } as const
  const api = { info: { title: 'x', version: '1' }, securitySchemes: {}, security: () => [] }
  expect(Object.keys(openApiDocument([route], api).paths as object)).toEqual(['/groups/{id}/wikis/{slug}'])
})
