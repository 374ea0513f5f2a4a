import Router, { type RouterMiddleware, type RouterOptions } from '@koa/router'

/** A path with the methods and the function that serve it. */
export interface IndexedRoute {
  readonly path: string
  readonly methods: readonly string[]
  readonly serve: RouterMiddleware
}

/** `/api/v4/projects` of `/api/v4/projects/1`: enough to tell the areas of an API apart. */
const PREFIX_SEGMENTS = 3

/**
 * Finds the routes of a request. A router matches a path against all its routes in sequence, which takes microseconds in a
 * large API. Therefore each method and each first part of a path has a router of its own.
 */
export class RouteIndex {
  readonly #routes: readonly IndexedRoute[]
  readonly #options: RouterOptions
  readonly #prefixes: ReadonlySet<string>
  /** Has all routes; it finds the methods of a path. */
  readonly #all: Router
  readonly #routers = new Map<string, RouterMiddleware>()

  /** If two routes match, the first one is used. */
  constructor(routes: readonly IndexedRoute[], options: RouterOptions) {
    this.#routes = routes
    this.#options = options
    this.#all = this.#routerWith(routes)
    this.#prefixes = new Set(routes.flatMap(({ path }) => prefixesOf(path)).filter(isLiteral))
  }

  /** Returns the middleware of the routes that can match. */
  routerOf(method: string, path: string): RouterMiddleware {
    const found = prefixOf(path)
    const prefix = this.#prefixes.has(found) ? found : undefined
    const key = `${method} ${prefix ?? ''}`
    const known = this.#routers.get(key)
    if (known !== undefined) return known
    const canMatch = (route: IndexedRoute) =>
      route.methods.includes(method) && prefixesOf(route.path).some((own) => own === prefix || !isLiteral(own))
    const middleware = this.#routerWith(this.#routes.filter(canMatch)).routes()
    this.#routers.set(key, middleware)
    return middleware
  }

  /** Returns the methods of all routes that match the path, sorted. */
  methodsOf(path: string): string[] {
    return [...new Set(this.#all.match(path, '').path.flatMap((layer) => layer.methods))].sort()
  }

  #routerWith(routes: readonly IndexedRoute[]): Router {
    const router = new Router(this.#options)
    for (const { path, methods, serve } of routes) router.register(path, [...methods], serve)
    return router
  }
}

const prefixOf = (path: string): string =>
  path
    .split('/', PREFIX_SEGMENTS + 1)
    .join('/')
    .replace(/\/$/, '')

/** Returns the prefixes of a route's path, which may contain an optional part: `/things{.json}`. */
function prefixesOf(path: string): string[] {
  const prefix = prefixOf(path)
  return [...new Set([prefix.replace(optional, ''), prefix.replace(optional, '$1')])]
}

const optional = /\{([^}]*)\}/

const isLiteral = (prefix: string): boolean => !/[:*{]/.test(prefix)
