import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { z } from 'zod'
import type { FormRules } from '../bodies/read-body.ts'
import type { FormEntry } from '../bodies/read-multipart.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request before its body is read. */
export interface Incoming {
  readonly method: string
  /** The path as sent, without the query. */
  readonly path: string
  /** The query with its `?`, or ''. */
  readonly search: string
  /**
   * The address of the client, from X-Forwarded-For if the peer is a trusted proxy, otherwise of the peer. IPv4 addresses
   * are in dotted form, never mapped into IPv6.
   */
  readonly source: string
  /** The id that is also in the response's `X-Request-Id`. */
  readonly requestId: string
  readonly raw: IncomingMessage
}

/** A request that the route's guard has admitted. It is parsed but not validated; the handler has to validate it. */
export interface RouteRequest extends Incoming {
  /** The decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  /** The parameters of the query; a name that occurs more than once has a list of its values. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /**
   * The parsed JSON if the route has a body schema; `undefined` if the body is optional and missing. If the route accepts
   * forms, a form is an object too, and a name that occurs more than once has a list of its values.
   */
  readonly body: unknown
  /** The entries of the form, in the order in which they were sent. */
  readonly form?: readonly FormEntry[]
  /** The unparsed bytes of a JSON body, if the route has `keepsBytes`. */
  readonly bytes?: Buffer
  /**
   * Admits the caller again, if the route has `staysOpen`. Throws the error of the guard, for example because the credential
   * was revoked since.
   */
  readonly readmit?: () => Promise<void>
}

/** Content: a text, bytes, bytes in parts, or a stream. */
export type Content = string | Uint8Array | readonly Uint8Array[] | Readable

/** A response: JSON, other content, or no body. */
export type Reply = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Set if the content may be compressed for clients that ask for it. Never set it if the content has a secret beside text that
   * a client chooses: the length of the compressed content would reveal the secret (BREACH).
   */
  readonly isCompressible?: boolean
} & (
  | { readonly json?: unknown; readonly content?: never; readonly contentType?: never }
  | { readonly json?: never; readonly content: Content; readonly contentType: string }
)

/** The description of one response in OpenAPI. */
export interface ResponseRow {
  readonly description: string
  /** Missing if the response has no body. */
  readonly body?: z.ZodType
  /** Default: application/json. */
  readonly contentType?: string
  /** Further bodies that the response may have instead, by content type. */
  readonly otherBodies?: Readonly<Record<string, z.ZodType>>
  /** Descriptions by header name. */
  readonly headers?: Readonly<Record<string, string>>
  /** The operations that can follow, by link name, with runtime expressions of OpenAPI for their parameters. */
  readonly links?: Readonly<Record<string, { operationId: string; parameters: Readonly<Record<string, string>> }>>
}

interface RouteDocumentation {
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly isDeprecated?: true
  /** The responses by status, including errors. */
  readonly responses: Readonly<Record<number, ResponseRow>>
}

/**
 * The description of one API call. `Access` is the data that the application's guard needs to admit or reject a request.
 *
 * The schemas belong to the operation behind the route, which validates with them. Here they only describe the request in
 * OpenAPI, except that a body is read only if `body` is set. A body schema that accepts `undefined` makes the body optional.
 */
export interface RouteShape<Access> {
  /** `*` matches every method. */
  readonly method: Method | '*'
  /**
   * The path, such as `/tokens/:id`. A parameter `:id` matches one segment, `*slug` one or more. If two routes match, the
   * first one is used, so a route with a fixed end comes before one that ends in `*slug`.
   */
  readonly path: string
  readonly access: Access
  readonly params?: z.ZodType
  readonly query?: z.ZodType
  readonly headers?: z.ZodType
  readonly body?: z.ZodType
  /** Set if the body may also be a form. */
  readonly forms?: FormRules
  /** Missing if the route is served without being part of the published API. */
  readonly documentation?: RouteDocumentation
  /** Set if the response lasts until the client goes away. The handler then has to call `readmit` from time to time. */
  readonly staysOpen?: boolean
}

/** One API call as data. `Context` is what the application's guard returns for an admitted caller. */
export interface Route<Context, Access> extends RouteShape<Access> {
  handle(request: RouteRequest, context: Context): Promise<Reply> | Reply
}

/** The parameters of a route's path, in their order. */
export const parsePathParameters = (path: string): { readonly name: string; readonly spansSegments: boolean }[] =>
  [...path.matchAll(pathParameter)].map(([, sign, name]) => ({ name: name!, spansSegments: sign === '*' }))

/** Returns the path with its parameters replaced. */
export const withPathParameters = (path: string, replace: (name: string) => string): string =>
  path.replaceAll(pathParameter, (_, _sign, name: string) => replace(name))

const pathParameter = /([:*])(\w+)/g

/** A route combined with its guard, so that routes with different guards can be served together. */
export interface ServedRoute {
  readonly method: Method | '*'
  readonly path: string
  readonly body: z.ZodType | undefined
  readonly forms?: FormRules
  /** Admits the request before its body is read, or throws. */
  admit(incoming: Incoming): Promise<Admitted>
  /** Converts the application's error response into the format of this route. */
  reshape?(reply: Reply, error: unknown): Reply
}

/** An admitted request: its handler, and the limits for its body. */
export interface Admitted {
  handle(request: RouteRequest): Promise<Reply> | Reply
  /** The limits for the body of this caller, instead of the route's. */
  readonly forms?: FormRules
  /** The error that replaces `body_too_large` and `json_beyond_limit`. */
  readonly beyondLimit?: unknown
}

/**
 * Combines routes with a guard.
 *
 * @param enter identifies the caller and returns the context for the handler; throws to reject the request
 */
export function guarded<Context, Access>(
  routes: readonly Route<Context, Access>[],
  enter: (incoming: Incoming, access: Access) => Promise<Context> | Context,
): ServedRoute[] {
  return routes.map((route) => ({
    method: route.method,
    path: route.path,
    body: route.body,
    ...(route.forms && { forms: route.forms }),
    async admit(incoming) {
      const context = await enter(incoming, route.access)
      if (!route.staysOpen) return { handle: (request) => route.handle(request, context) }
      const readmit = async () => void (await enter(incoming, route.access))
      return { handle: (request) => route.handle({ ...request, readmit }, context) }
    },
  }))
}

/** Returns routes without a guard, which are open to everyone. */
export function unguarded(routes: readonly Route<undefined, unknown>[]): ServedRoute[] {
  return guarded(routes, () => undefined)
}
