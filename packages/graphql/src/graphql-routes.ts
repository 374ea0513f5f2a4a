import { type Core, isFromOurPage } from '@penstock/core'
import {
  headerIn,
  type Incoming,
  pageProofIn,
  type Reply,
  type RouteRequest,
  type ServedRoute,
  sessionSecretIn,
} from '@penstock/http'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { z } from 'zod'
import { type Caller, callerOf } from './caller.ts'
import { Deadline } from './deadline.ts'
import { Engine, isRejected, limitOf, type Prepared, type Rejected, tooComplex } from './engine.ts'
import { endsRequest } from './failure.ts'
import { GraphqlRefusal } from './graphql-refusal.ts'
import { type GraphqlRequest, graphqlRequestOf } from './graphql-request.ts'
import type { Captcha, RequestContext } from './request-context.ts'
import { createSchema } from './schema.ts'
import { withoutDeprecated } from './without-deprecated.ts'

export interface GraphqlOptions {
  readonly core: Core
  /** Default 30 s. */
  readonly timeoutMs?: number
}

/** A route, and whose call each of its requests is. */
export interface GraphqlRoute extends ServedRoute {
  callerId(incoming: Incoming): Promise<number | undefined>
}

const PATH = '/api/graphql'
const TIMEOUT_MS = 30_000

/**
 * `POST`, `GET` and `HEAD /api/graphql`.
 *
 * Order of checks: credentials, size, mutation by GET, proof of a session's page, complexity of a batch, execution.
 *
 * @see spec/graphql-contract.md 1.4
 */
export function graphqlRoutes(options: GraphqlOptions): GraphqlRoute[] {
  const schema = createSchema(options.core.settings)
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
    path: PATH,
    body: method === 'POST' ? z.unknown() : undefined,
    ...(method === 'POST' && { forms: {} }),
    async callerId(incoming) {
      const caller = await callerOf(options.core, incoming)
      callers.set(incoming.raw, caller)
      return caller.actor?.id
    },
    async admit(incoming) {
      const caller = callers.get(incoming.raw) ?? (await callerOf(options.core, incoming))
      return { handle: (request) => answer(request, caller, engineFor, options) }
    },
    reshape,
  })
  return [route('POST'), route('GET')]
}

async function answer(
  request: RouteRequest,
  caller: Caller,
  engineFor: (removesDeprecated: boolean) => Engine,
  options: GraphqlOptions,
): Promise<Reply> {
  const asked = graphqlRequestOf(request)
  const engine = engineFor(asked.removesDeprecated)
  const isSignedIn = caller.actor !== undefined
  const prepared = asked.operations.map((operation) => engine.prepare(operation, isSignedIn))
  if (prepared.some((each) => !isRejected(each) && each.operation.operation === 'mutation')) {
    requireWayToChange(request, caller, options.core)
  }
  const measured = asked.isBatch ? heldToTotal(prepared, isSignedIn) : prepared
  const results: ExecutionResult[] = []
  for (const each of measured) {
    results.push(isRejected(each) ? each : await execute(each, { engine, request, caller, asked, options }))
  }
  return { status: 200, json: asked.isBatch ? results : results[0] }
}

/** @throws GraphqlRefusal */
function requireWayToChange({ method, raw }: RouteRequest, caller: Caller, { settings }: Core): void {
  if (method !== 'POST') throw new GraphqlRefusal(422, `Mutations are forbidden in ${method} requests`)
  if (!caller.isSession) return
  const secret = sessionSecretIn(raw.headers, settings.serviceName)
  if (secret === undefined || !isFromOurPage(secret, pageProofIn(raw.headers))) {
    throw new GraphqlRefusal(422, "Can't verify CSRF token authenticity.")
  }
}

/** One that asks too much, or all of them together, fails every one. */
function heldToTotal(
  prepared: readonly (Prepared | Rejected)[],
  isSignedIn: boolean,
): readonly (Prepared | Rejected)[] {
  const limit = limitOf(isSignedIn, false)
  const total = prepared.reduce((sum, each) => sum + (isRejected(each) ? 0 : each.score), 0)
  const refused = prepared.find((each) => isRejected(each) && each.errors.some(isAboutComplexity))
  if (total <= limit && refused === undefined) return prepared
  const errors = refused === undefined ? [tooComplex(total, limit)] : (refused as Rejected).errors
  return prepared.map(() => ({ errors }))
}

const isAboutComplexity = ({ message }: GraphQLError): boolean => message.startsWith('Query has complexity of')

interface Execution {
  readonly engine: Engine
  readonly request: RouteRequest
  readonly caller: Caller
  readonly asked: GraphqlRequest
  readonly options: GraphqlOptions
}

async function execute(
  prepared: Prepared,
  { engine, request, caller, asked, options }: Execution,
): Promise<ExecutionResult> {
  const { core, timeoutMs = TIMEOUT_MS } = options
  const isSignedIn = caller.actor !== undefined
  const deadline = new Deadline(core.clock, timeoutMs)
  const context: RequestContext = {
    core,
    actor: caller.actor,
    mayWrite: caller.mayWrite && isSignedIn,
    complexity: { score: prepared.score, limit: limitOf(isSignedIn, !asked.isBatch && prepared.isIntrospection) },
    deadline,
    captcha: captchaIn(request, core),
    loaders: new Map(),
  }
  try {
    const result = await engine.execute(prepared, context)
    for (const { originalError } of result.errors ?? []) {
      // A fault of ours, or of what we stand on: what else was found is not to be relied on.
      if (originalError != null && !(originalError instanceof GraphQLError)) throw originalError
    }
    return result
  } finally {
    deadline.end()
  }
}

/** @see spec/interface-1.md 4.1 */
function captchaIn({ raw }: RouteRequest, { settings }: Core): Captcha | undefined {
  const response = headerIn(raw.headers, `x-${settings.serviceName}-captcha-response`)
  const spamLogId = Number(headerIn(raw.headers, `x-${settings.serviceName}-spam-log-id`))
  return response === undefined || !Number.isSafeInteger(spamLogId) ? undefined : { response, spamLogId }
}

const messages: Readonly<Record<number, string>> = {
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
  if (endsRequest(error) || messages[status] !== undefined) {
    return { status, ...withHeaders, json: { errors: [{ message: messages[status] }] } }
  }
  if (status >= 500) return { status, ...withHeaders, json: { errors: [{ message: 'Internal server error' }] } }
  return { status, ...withHeaders, ...reply } as Reply
}
