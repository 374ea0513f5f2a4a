import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { FormRules } from './read-body.ts'
import type { FormEntry } from './read-multipart.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What is known of a request before its body. */
export interface Incoming {
  readonly method: string
  /** As sent, without the query. */
  readonly path: string
  /** With its `?`, or ''. */
  readonly search: string
  /** Address of the caller, as trusted proxies tell it, else of the peer; IPv4 in its own form, never mapped into IPv6. */
  readonly source: string
  /** Also in the answer's `X-Request-Id`. */
  readonly requestId: string
  readonly raw: IncomingMessage
}

/** A request that has been let in. Whoever handles it validates: the kit has only taken it apart. */
export interface RouteRequest extends Incoming {
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>
  /** A name that came more than once has them all. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /**
   * Parsed JSON, when the route has a body schema; `undefined` when the request has no body and need not have one. A form,
   * where the route takes forms, is an object too: a name that came more than once has all its values.
   */
  readonly body: unknown
  /** What that form was made of, in its order. */
  readonly form?: readonly FormEntry[]
  /** The unparsed bytes of a JSON body, if the route keeps them. */
  readonly bytes?: Buffer
}

/** An answer: JSON, other content, or no body at all. */
export type Reply = { readonly status: number; readonly headers?: Readonly<Record<string, string>> } & (
  | { readonly json?: unknown; readonly content?: never; readonly contentType?: never }
  | { readonly json?: never; readonly content: string | Uint8Array; readonly contentType: string }
)

/** What OpenAPI says of one answer. */
export interface ResponseRow {
  readonly description: string
  /** An answer without one has none. */
  readonly body?: z.ZodType
  /** Default: application/json. */
  readonly contentType?: string
  /** Name → meaning. */
  readonly headers?: Readonly<Record<string, string>>
  /** By name: what can be called next, and which of its parameters come from where, as OpenAPI's expressions. */
  readonly links?: Readonly<Record<string, { operationId: string; parameters: Readonly<Record<string, string>> }>>
}

export interface RouteDocumentation {
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** By status, errors included. */
  readonly responses: Readonly<Record<number, ResponseRow>>
}

/**
 * What one call of an API looks like; `Access` is what the application wants to know of it before it lets anyone in.
 *
 * The schemas are those of the operation behind the route. The operation validates with them; here they describe the
 * request in OpenAPI, and `body` says that there is one to read. A body schema that accepts `undefined` makes it optional.
 */
export interface RouteShape<Access> {
  /** `*`: any. */
  readonly method: Method | '*'
  /** `/tokens/:id`; a parameter holds one segment. */
  readonly path: string
  readonly access: Access
  readonly params?: z.ZodType
  readonly query?: z.ZodType
  readonly headers?: z.ZodType
  readonly body?: z.ZodType
  /** The body may also be a form. */
  readonly forms?: FormRules
  /** Without it, the route is served but is no part of the published API. */
  readonly documentation?: RouteDocumentation
}

/** One call of an API, as data; `Context` is what the application makes of a caller it has let in. */
export interface Route<Context, Access> extends RouteShape<Access> {
  handle(request: RouteRequest, context: Context): Promise<Reply> | Reply
}

/** A route with its guard in front, ready to be served beside those of other guards. */
export interface ServedRoute {
  readonly method: Method | '*'
  readonly path: string
  readonly body: z.ZodType | undefined
  readonly forms?: FormRules
  /** Lets the request in, before anything of it is read, or throws. */
  admit(incoming: Incoming): Promise<Admitted>
  /** Puts the application's answer to a failure of this route into the route's own form. */
  reshape?(reply: Reply, error: unknown): Reply
}

/** What is done for whoever has been let in. */
export interface Admitted {
  handle(request: RouteRequest): Promise<Reply> | Reply
  /** How much of a body they may send, where that is not the route's. */
  readonly forms?: FormRules
  /** Thrown instead of `body_too_large` and `json_beyond_limit`. */
  readonly beyondLimit?: unknown
}

/** `enter` finds out who calls, and whether they may; it throws to refuse. */
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
      return { handle: (request) => route.handle(request, context) }
    },
  }))
}

/** Routes for anyone. */
export function unguarded(routes: readonly Route<undefined, unknown>[]): ServedRoute[] {
  return guarded(routes, () => undefined)
}
