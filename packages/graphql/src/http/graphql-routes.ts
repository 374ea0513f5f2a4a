import { type FormRules, type Incoming, type Reply, RequestProblem, type ServedRoute } from '@penstock/http'
import { z } from 'zod'
import { failsRequest, TOO_OFTEN } from '../request/request-failure.ts'
import { type Caller, callerInBody, callerOf } from './caller.ts'
import { GraphqlRequestError } from './graphql-request-error.ts'
import type { GraphqlOptions, GraphqlServer } from './graphql-server.ts'
import { graphqlJsonLimits } from './json-limits.ts'

/** A route that identifies the caller of each request, for the rate limits. */
export interface GraphqlRoute extends ServedRoute {
  callerId(incoming: Incoming): Promise<number | undefined>
}

export const GRAPHQL_PATH = '/api/graphql'
const bodyRules: FormRules = { jsonLimits: graphqlJsonLimits }
/** The limits for callers without a credential in headers or query: enough for a document, or for a credential in the body. */
const anonymousBodyRules: FormRules = { ...bodyRules, limitBytes: 64 * 1024, fileLimitBytes: 64 * 1024 }

/**
 * Returns the routes of `POST`, `GET` and `HEAD /api/graphql`.
 *
 * Order of checks: credentials, size, mutation by GET, CSRF token of a session, validation, complexity, nesting, execution.
 */
export function graphqlRoutes(options: GraphqlOptions): GraphqlRoute[] {
  const { core } = options
  // Loaded with the first request: the modules and the schema take a quarter of a second and much memory, and many processes
  // answer no GraphQL.
  let server: Promise<GraphqlServer> | undefined
  const loadServer = async (): Promise<GraphqlServer> => {
    const { GraphqlServer } = await import('./graphql-server.ts')
    return new GraphqlServer(options)
  }
  const callers = new WeakMap<Incoming['raw'], Caller>()
  const route = (method: 'GET' | 'POST'): GraphqlRoute => ({
    method,
    path: GRAPHQL_PATH,
    body: method === 'POST' ? z.unknown() : undefined,
    ...(method === 'POST' && { forms: bodyRules }),
    async callerId(incoming) {
      const caller = await callerOf(core, incoming)
      callers.set(incoming.raw, caller)
      return caller.actor?.id
    },
    async admit(incoming) {
      const caller = callers.get(incoming.raw) ?? (await callerOf(core, incoming))
      return {
        ...(caller.actor === undefined && { forms: anonymousBodyRules }),
        async handle(request) {
          const bodyCaller = await callerInBody(core, request)
          server ??= loadServer()
          return (await server).answer(request, bodyCaller ?? caller)
        },
      }
    },
    reshape,
  })
  return [route('POST'), route('GET'), ...unserved]
}

/** Routes that answer 404 to methods that GraphQL does not use. */
const unserved = (['PUT', 'PATCH', 'DELETE'] as const).map(
  (method): GraphqlRoute => ({
    method,
    path: GRAPHQL_PATH,
    body: undefined,
    callerId: async () => undefined,
    async admit() {
      throw new RequestProblem({ kind: 'not_found' })
    },
    reshape,
  }),
)

const messages: Readonly<Record<number, string>> = {
  404: 'Not found!',
  413: 'Request body too large',
  415: 'The provided content type is not supported',
  429: TOO_OFTEN,
  503: 'Request timed out. Please try a less complex query or a smaller set of records.',
}

/** Rewrites the response to an error into the form of GraphQL. */
function reshape({ status, headers, ...reply }: Reply, error: unknown): Reply {
  const withHeaders = headers && { headers }
  if (error instanceof GraphqlRequestError) {
    const json = error.hasPlainBody ? { error: error.message } : { errors: [{ message: error.message }] }
    return { status: error.status, json }
  }
  if (error instanceof RequestProblem && isCompressed(error)) {
    return { status, ...withHeaders, json: { errors: [{ message: 'The body must not be compressed' }] } }
  }
  if (failsRequest(error) || messages[status] !== undefined) {
    return { status, ...withHeaders, json: { errors: [{ message: messages[status] }] } }
  }
  if (status >= 500) return { status, ...withHeaders, json: { errors: [{ message: 'Internal server error' }] } }
  return { status, ...withHeaders, ...reply } as Reply
}

const isCompressed = ({ problem }: RequestProblem): boolean =>
  problem.kind === 'unsupported_media_type' && problem.contentEncoding !== undefined
