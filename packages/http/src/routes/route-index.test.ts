import Router from '@koa/router'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type IndexedRoute, RouteIndex } from './route-index.ts'

const paths = [
  '/',
  '/a',
  '/a/b',
  '/a/b/c',
  '/a/b/c/:id',
  '/a/b/d/:id/e',
  '/:x',
  '/a/:x/c',
  '/a/*rest',
  '/a/b/:x',
  '/a/b/c/',
  '/a/b/c{.json}',
  '/a{.json}',
  '/a/b/d/:id{.json}',
]
const requested = [
  '/',
  '',
  '/a',
  '/a/',
  '/a/b/c/1',
  '/a/b/d/1/e',
  '/a/b/d/1/e/',
  '//a',
  '/a//c',
  '/a/x/c',
  '/a/b',
  '/z',
  '/A',
]

/** Returns the number of the route that serves a path, or `undefined`. */
async function served(router: ReturnType<RouteIndex['routerOf']>, method: string, path: string) {
  const context = { path, method, state: {}, request: {}, app: {} } as unknown as Parameters<typeof router>[0] & {
    found?: number
  }
  await router(context, async () => {})
  return context.found
}

test('finds the same route, and the same methods, as one router for all routes', async () => {
  const route = fc.record({
    path: fc.constantFrom(...paths),
    methods: fc.subarray(['GET', 'HEAD', 'POST'], { minLength: 1 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(route, { maxLength: 12 }),
      fc.constantFrom(...requested),
      fc.constantFrom('GET', 'POST', 'PUT'),
      fc.boolean(),
      async (rows, path, method, strict) => {
        const routes = rows.map(({ path, methods }, number): IndexedRoute => {
          return { path, methods, serve: (context) => Object.assign(context, { found: number }) }
        })
        const router = new Router({ sensitive: true, strict })
        for (const { path, methods, serve } of routes) router.register(path, [...methods], serve)
        const index = new RouteIndex(routes, { sensitive: true, strict })
        expect(await served(index.routerOf(method, path), method, path)).toBe(
          await served(router.routes(), method, path),
        )
        const methods = router.match(path, method).path.flatMap((layer) => layer.methods)
        expect(index.methodsOf(path)).toEqual([...new Set(methods)].sort())
      },
    ),
    { numRuns: 2_000 },
  )
})

test('an unknown path, requested first, does not hide the root, and two slashes are an unknown path', async () => {
  const serve: IndexedRoute['serve'] = (context) => Object.assign(context, { found: 0 })
  const index = new RouteIndex([{ path: '/', methods: ['GET'], serve }], { sensitive: true, strict: false })
  const at = async (path: string) => [await served(index.routerOf('GET', path), 'GET', path), index.methodsOf(path)]
  for (const path of ['/z', '//', '/z', '/a/b/c/d']) expect([path, await at(path)]).toEqual([path, [undefined, []]])
  expect(await at('/')).toEqual([0, ['GET', 'HEAD']])
  expect(await at('//')).toEqual([undefined, []])
})
