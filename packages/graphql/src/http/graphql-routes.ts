import { type FormRules, type Incoming, type Reply, RequestProblem, type ServedRoute } from '@penstock/http'
import { jsonExcess } from '@penstock/json'
import { z } from 'zod'
import { failsRequest, TOO_OFTEN } from '../request/request-failure.ts'
import { type Caller, callerInBody, callerOf } from './caller.ts'
import { GraphqlRequestError } from './graphql-request-error.ts'
import type { GraphqlOptions, GraphqlServer } from './graphql-server.ts'
import { graphqlJsonLimits } from './json-limits.ts'

/** A route that identifies the caller of each request, for the rate limits. */
interface GraphqlRoute extends ServedRoute {
  callerId(incoming: Incoming): Promise<number | undefined>
}

export const GRAPHQL_PATH = '/api/graphql'
const bodyRules: FormRules = { jsonLimits: graphqlJsonLimits }
/**
 * The limits for callers without a credential in headers or query: enough for a batch of queries, or for a credential in the
 * body. JSON can write each of the 10,000 characters of a query in 12 bytes.
 */
const anonymousBodyRules: FormRules = { ...bodyRules, limitBytes: 1024 * 1024, fileLimitBytes: 64 * 1024 }

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
  400: 'The request cannot be read',
  404: 'Not found!',
  413: 'Request body too large',
  415: 'The provided content type is not supported',
  429: TOO_OFTEN,
  503: 'Request timed out. Please try a less complex query or a smaller set of records.',
}

/** Rewrites the response to an error into the form of GraphQL. */
function reshape({ status, headers, ...reply }: Reply, error: unknown): Reply {
  const failed = (message: string): Reply => ({ status, ...(headers && { headers }), json: { errors: [{ message }] } })
  if (error instanceof GraphqlRequestError)
    return { status: error.status, json: { errors: [{ message: error.message }] } }
  const problem = error instanceof RequestProblem ? bodyProblem(error) : undefined
  if (problem !== undefined) return failed(problem)
  const message = messages[status] ?? (failsRequest(error) ? messages[503] : undefined)
  if (message !== undefined) return failed(message)
  if (status >= 500) return failed('Internal server error')
  return { status, ...(headers && { headers }), ...reply } as Reply
}

/** Returns the message about a body that was not read as a request. */
function bodyProblem({ problem }: RequestProblem): string | undefined {
  switch (problem.kind) {
    case 'invalid_json':
      return 'The body is not valid JSON'
    case 'json_beyond_limit':
      return `JSON ${jsonExcess(problem.limit, problem.most)}`
    case 'unsupported_media_type':
      return problem.contentEncoding === undefined ? undefined : 'The body must not be compressed'
    default:
      return undefined
  }
}
