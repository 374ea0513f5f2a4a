import type { Core } from '@penstock/core'
import { type FormRules, type Incoming, type Reply, RequestProblem, type ServedRoute } from '@penstock/http'
import { z } from 'zod'
import { answer } from './answer.ts'
import { MAX_BLOB_DATA } from './blob-data.ts'
import { type Caller, callerInBody, callerOf } from './caller.ts'
import { Engine } from './engine.ts'
import { endsRequest } from './failure.ts'
import { GraphqlRefusal } from './graphql-refusal.ts'
import { graphqlRequestOf } from './graphql-request.ts'
import { MAX_ITEMS } from './item-budget.ts'
import { graphqlJsonLimits } from './json-limits.ts'
import { MAX_READ } from './read-budget.ts'
import { createSchema } from './schema.ts'
import { MAX_TEXT } from './text-budget.ts'
import { withoutDeprecated } from './without-deprecated.ts'

export interface GraphqlOptions {
  readonly core: Core
  /** Default 30 s. */
  readonly timeoutMs?: number
  /** Bytes of several files that one request is given; default 20 MB. */
  readonly mostBlobData?: number
  /** Of all lists of one request together; default 30,000. */
  readonly mostItems?: number
  /** Bytes of the descriptions of issues and merge requests that one request is given; default 20 MB. */
  readonly mostText?: number
  /** Characters of what the database gives for one request; default 64,000,000. */
  readonly mostRead?: number
}

/** A route, and whose call each of its requests is. */
export interface GraphqlRoute extends ServedRoute {
  callerId(incoming: Incoming): Promise<number | undefined>
}

export const GRAPHQL_PATH = '/api/graphql'
const TIMEOUT_MS = 30_000
const bodyRules: FormRules = { jsonLimits: graphqlJsonLimits }
/** The limits for callers without a credential in headers or query: enough for a document, or for a credential in the body. */
const anonymousBodyRules: FormRules = { ...bodyRules, limitBytes: 64 * 1024, fileLimitBytes: 64 * 1024 }

/**
 * `POST`, `GET` and `HEAD /api/graphql`.
 *
 * Order of checks: credentials, size, mutation by GET, proof of a session's page, then what the language and the limits say,
 * then execution.
 *
 * @see spec/graphql-contract.md 1.4
 */
export function graphqlRoutes({
  core,
  timeoutMs = TIMEOUT_MS,
  mostBlobData = MAX_BLOB_DATA,
  mostItems = MAX_ITEMS,
  mostText = MAX_TEXT,
  mostRead = MAX_READ,
}: GraphqlOptions): GraphqlRoute[] {
  const schema = createSchema(core.settings)
  const whole = new Engine(schema)
  let current: Engine | undefined
  const engineFor = (removesDeprecated: boolean): Engine => {
    if (!removesDeprecated) return whole
    // Made when it is first asked for: most processes never are.
    current ??= new Engine(withoutDeprecated(schema))
    return current
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
          const ofBody = await callerInBody(core, request)
          const asked = graphqlRequestOf(request)
          const engine = engineFor(asked.removesDeprecated)
          const limits = { timeoutMs, mostBlobData, mostItems, mostText, mostRead }
          return answer({ core, engine, ...limits, request, caller: ofBody ?? caller, asked })
        },
      }
    },
    reshape,
  })
  return [route('POST'), route('GET'), ...unserved]
}

/** Methods that are none of this path's, whatever they carry. @see spec/graphql-contract.md 1.4 */
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
  429: 'This endpoint has been requested too many times. Try again later.',
  503: 'Request timed out. Please try a less complex query or a smaller set of records.',
}

/** @see spec/graphql-contract.md 1.4 */
function reshape({ status, headers, ...reply }: Reply, error: unknown): Reply {
  const withHeaders = headers && { headers }
  if (error instanceof GraphqlRefusal) {
    const json = error.isBeforeGraphql ? { error: error.message } : { errors: [{ message: error.message }] }
    return { status: error.status, json }
  }
  if (error instanceof RequestProblem && isCompressed(error)) {
    return { status, ...withHeaders, json: { errors: [{ message: 'The body must not be compressed' }] } }
  }
  if (endsRequest(error) || messages[status] !== undefined) {
    return { status, ...withHeaders, json: { errors: [{ message: messages[status] }] } }
  }
  if (status >= 500) return { status, ...withHeaders, json: { errors: [{ message: 'Internal server error' }] } }
  return { status, ...withHeaders, ...reply } as Reply
}

const isCompressed = ({ problem }: RequestProblem): boolean =>
  problem.kind === 'unsupported_media_type' && problem.contentEncoding !== undefined
