import { setImmediate as turn } from 'node:timers/promises'
import { type Core, isFromOurPage, toRequestFacts, watchedReads } from '@penstock/core'
import {
  captchaAnswerIn,
  csrfProofIn,
  factsIn,
  JsonAnswer,
  type Reply,
  type RouteRequest,
  sessionSecretIn,
} from '@penstock/http'
import { MAX_ANSWER_BYTES } from '@penstock/json'
import type { ExecutionResult } from 'graphql'
import {
  complexityError,
  complexityLimit,
  type Engine,
  isRejected,
  type ParsedOperation,
  type PreparedOperation,
  type RejectedOperation,
} from '../engine/engine.ts'
import { ValidationTime } from '../engine/validation-time.ts'
import { BlobBudget, sizeText } from '../request/blob-budget.ts'
import { Deadline } from '../request/deadline.ts'
import { retryAfterSecondsOf, toClientErrors } from '../request/failure.ts'
import { ItemBudget } from '../request/item-budget.ts'
import { Loaders } from '../request/loaders.ts'
import { ReadBudget } from '../request/read-budget.ts'
import type { RequestContext } from '../request/request-context.ts'
import { TextBudget } from '../request/text-budget.ts'
import type { Caller } from './caller.ts'
import type { GraphqlRequest } from './graphql-request.ts'
import { GraphqlRequestError } from './graphql-request-error.ts'

interface GraphqlCall {
  readonly core: Core
  readonly engine: Engine
  readonly timeoutMs: number
  readonly maxBlobBytes: number
  readonly maxItems: number
  readonly maxTextBytes: number
  readonly maxReadCharacters: number
  readonly request: RouteRequest
  readonly caller: Caller
  readonly graphqlRequest: GraphqlRequest
}

/** The deadline and the budgets that the operations of one request share. */
interface RequestLimits extends Pick<RequestContext, 'deadline' | 'blobBudget' | 'itemBudget' | 'textBudget'> {
  readonly readBudget: ReadBudget
}

/**
 * Executes the operations of a request and returns the response. The caller and the size of the request have been checked.
 *
 * @throws GraphqlRequestError, and other errors that fail the whole request
 */
export async function answer(call: GraphqlCall): Promise<Reply> {
  const {
    core,
    engine,
    timeoutMs,
    maxBlobBytes,
    maxItems,
    maxTextBytes,
    maxReadCharacters,
    request,
    caller,
    graphqlRequest,
  } = call
  const limit = complexityLimit(caller.actor !== undefined, false)
  const count = graphqlRequest.operations.length
  // A batch with more operations than the limit is treated as too complex. Its documents are not parsed.
  if (graphqlRequest.isBatch && count > limit) return ok(Array(count).fill({ errors: [complexityError(count, limit)] }))
  const parsed: (ParsedOperation | RejectedOperation)[] = []
  for (const operation of graphqlRequest.operations) {
    if (parsed.length > 0) await turn()
    parsed.push(engine.parse(operation))
  }
  if (parsed.some((each) => !isRejected(each) && each.operation.operation === 'mutation')) {
    requireMutationAllowed(request, caller, core)
  }
  const prepared = await prepareAll(parsed, call)
  const deadline = new Deadline(core.clock, timeoutMs, () => request.raw.socket.destroyed)
  const limits: RequestLimits = {
    deadline,
    blobBudget: new BlobBudget(maxBlobBytes),
    itemBudget: new ItemBudget(maxItems),
    textBudget: new TextBudget(maxTextBytes),
    readBudget: new ReadBudget(maxReadCharacters),
  }
  try {
    const results: ExecutionResult[] = []
    const waits: number[] = []
    for (const each of prepared) {
      const { retryAfterSeconds, ...result }: Executed = isRejected(each)
        ? { errors: each.errors }
        : await execute(each, call, limits)
      results.push(result)
      if (retryAfterSeconds !== undefined) waits.push(retryAfterSeconds)
    }
    const json = graphqlRequest.isBatch ? results : results[0]
    const content = await boundedJson(json, limits.blobBudget)
    if (waits.length === 0) return { status: 200, ...content }
    // The changes of the other fields stay, so their data is returned too.
    return { status: 429, headers: { 'Retry-After': String(Math.max(...waits)) }, ...content }
  } finally {
    deadline.end()
  }
}

interface Executed extends ExecutionResult {
  /** Set if an operation of the core was performed too often. */
  readonly retryAfterSeconds?: number
}

const ok = (json: unknown): Reply => ({ status: 200, json })

/** JSON writes a character with up to six bytes. */
const MAX_ESCAPED_BYTES = 6
const TOO_LARGE = `The response would be larger than ${sizeText(MAX_ANSWER_BYTES)}. Request fewer items or fields.`

/** Returns the JSON of a response, or an error if it is too large. The contents of files are exempt: they have their own limit. */
async function boundedJson(json: unknown, { shownBytes }: BlobBudget): Promise<JsonContent> {
  const answer = new JsonAnswer(MAX_ANSWER_BYTES + shownBytes * MAX_ESCAPED_BYTES)
  const fits = await answer.value(json)
  const content = fits ? answer.end() : JSON.stringify({ errors: [{ message: TOO_LARGE }] })
  return { content, contentType: 'application/json' }
}

type JsonContent = Required<Pick<Extract<Reply, { content: unknown }>, 'content' | 'contentType'>>

/** @throws GraphqlRequestError */
function requireMutationAllowed({ method, raw }: RouteRequest, caller: Caller, { settings }: Core): void {
  if (method !== 'POST') throw new GraphqlRequestError(422, 'Mutations are forbidden in GET requests')
  if (!caller.isSession) return
  const secret = sessionSecretIn(raw.headers, settings.serviceName)
  if (secret === undefined || !isFromOurPage(secret, csrfProofIn(raw.headers))) {
    throw new GraphqlRequestError(422, "Can't verify CSRF token authenticity.")
  }
}

/**
 * Validates and measures all operations. If a batch exceeds the complexity limit in total, each of its operations is
 * rejected.
 */
async function prepareAll(
  parsed: readonly (ParsedOperation | RejectedOperation)[],
  { engine, caller, graphqlRequest }: GraphqlCall,
): Promise<readonly (PreparedOperation | RejectedOperation)[]> {
  const isSignedIn = caller.actor !== undefined
  const limit = complexityLimit(isSignedIn, false)
  const validationTime = new ValidationTime()
  const prepared: (PreparedOperation | RejectedOperation)[] = []
  let total = 0
  for (const each of parsed) {
    // Other requests get a turn of the event loop between two operations.
    if (prepared.length > 0) await turn()
    const operation = isRejected(each) ? each : engine.prepare(each, isSignedIn, validationTime)
    total += operation.score ?? 0
    prepared.push(operation)
  }
  return graphqlRequest.isBatch && total > limit
    ? Array(prepared.length).fill({ errors: [complexityError(total, limit)] })
    : prepared
}

async function execute(
  prepared: PreparedOperation,
  { core, engine, request, caller, graphqlRequest }: GraphqlCall,
  { readBudget, ...limits }: RequestLimits,
): Promise<Executed> {
  const requireTime = () => limits.deadline.requireTime()
  const isSignedIn = caller.actor !== undefined
  const facts = toRequestFacts(factsIn(request, core.settings.serviceName))
  const context: RequestContext = {
    core,
    reads: watchedReads(core, facts, readBudget.watch(requireTime)),
    actor: caller.actor,
    request: facts,
    mayWrite: caller.mayWrite,
    complexity: {
      score: prepared.score,
      limit: complexityLimit(isSignedIn, !graphqlRequest.isBatch && prepared.isIntrospection),
    },
    ...limits,
    captcha: captchaAnswerIn(request.raw.headers, core.settings.serviceName),
    loaders: new Loaders(requireTime),
  }
  const { errors = [], data } = await engine.execute(prepared, context)
  const clientErrors = toClientErrors(errors)
  const retryAfterSeconds = retryAfterSecondsOf(errors)
  // If nothing was done before the limit, the response is the error alone.
  const isOnlyRefused = retryAfterSeconds !== undefined && Object.values(data ?? {}).every((value) => value === null)
  return {
    ...(clientErrors.length > 0 && { errors: clientErrors }),
    ...(data !== undefined && !isOnlyRefused && { data }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
}
