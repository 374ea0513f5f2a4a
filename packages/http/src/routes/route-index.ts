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
  readonly #routers = new Map<string, RouterMiddleware>()
  /** Routers with the routes of all methods, by prefix. They find the methods of a path. */
  readonly #ofAllMethods = new Map<string | undefined, Router>()

  /** If two routes match, the first one is used. */
  constructor(routes: readonly IndexedRoute[], options: RouterOptions) {
    this.#routes = routes
    this.#options = options
    this.#prefixes = new Set(routes.flatMap(({ path }) => prefixesOf(path)).filter(isLiteral))
  }

  /** Returns the middleware of the routes that can match. */
  routerOf(method: string, path: string): RouterMiddleware {
    const prefix = this.#knownPrefixOf(path)
    // The prefix of `/` is empty, which is not the same as a prefix that no route has.
    const key = prefix === undefined ? method : `${method} ${prefix}`
    const known = this.#routers.get(key)
    if (known !== undefined) return known
    const canMatch = this.#routesWith(prefix).filter((route) => route.methods.includes(method))
    const middleware = this.#routerWith(canMatch).routes()
    this.#routers.set(key, middleware)
    return middleware
  }

  /** Returns the methods of all routes that match the path, sorted. */
  methodsOf(path: string): string[] {
    const prefix = this.#knownPrefixOf(path)
    const router = this.#ofAllMethods.get(prefix) ?? this.#routerWith(this.#routesWith(prefix))
    this.#ofAllMethods.set(prefix, router)
    return [...new Set(router.match(path, '').path.flatMap((layer) => layer.methods))].sort()
  }

  #knownPrefixOf(path: string): string | undefined {
    const prefix = prefixOf(path)
    return this.#prefixes.has(prefix) ? prefix : undefined
  }

  /** Returns the routes that can match a path with the prefix, or one with a prefix that no route has. */
  #routesWith(prefix: string | undefined): IndexedRoute[] {
    return this.#routes.filter(({ path }) => prefixesOf(path).some((own) => own === prefix || !isLiteral(own)))
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
