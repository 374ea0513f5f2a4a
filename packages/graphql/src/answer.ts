import { setImmediate as turn } from 'node:timers/promises'
import { type Core, isFromOurPage, watchedReads } from '@penstock/core'
import { captchaAnswerIn, csrfProofIn, type Reply, type RouteRequest, sessionSecretIn } from '@penstock/http'
import type { ExecutionResult } from 'graphql'
import { BlobData } from './blob-data.ts'
import type { Caller } from './caller.ts'
import { Deadline } from './deadline.ts'
import { type Engine, isRejected, limitOf, type Prepared, type Readable, type Rejected, tooComplex } from './engine.ts'
import { toldErrors } from './failure.ts'
import { GraphqlRefusal } from './graphql-refusal.ts'
import type { GraphqlRequest } from './graphql-request.ts'
import { ItemBudget } from './item-budget.ts'
import { Loaders } from './loaders.ts'
import { ReadBudget } from './read-budget.ts'
import type { RequestContext } from './request-context.ts'
import { TextBudget } from './text-budget.ts'

interface Asked {
  readonly core: Core
  readonly engine: Engine
  readonly timeoutMs: number
  readonly mostBlobData: number
  readonly mostItems: number
  readonly mostText: number
  readonly mostRead: number
  readonly request: RouteRequest
  readonly caller: Caller
  readonly asked: GraphqlRequest
}

/** What the operations of one request have together. */
interface Shared extends Pick<RequestContext, 'deadline' | 'blobData' | 'items' | 'texts'> {
  readonly readBudget: ReadBudget
}

/**
 * The answer to a request whose caller and size are right.
 *
 * @throws GraphqlRefusal, and what is to be an answer without any data
 * @see spec/graphql-contract.md 1.2, 1.4
 */
export async function answer(given: Asked): Promise<Reply> {
  const { core, engine, timeoutMs, mostBlobData, mostItems, mostText, mostRead, request, caller, asked } = given
  const limit = limitOf(caller.actor !== undefined, false)
  const count = asked.operations.length
  // None costs less than 1, so there is no need to read them.
  if (asked.isBatch && count > limit) return ok(Array(count).fill({ errors: [tooComplex(count, limit)] }))
  const readable = asked.operations.map((operation) => engine.read(operation))
  if (readable.some((each) => !isRejected(each) && each.operation.operation === 'mutation')) {
    requireWayToChange(request, caller, core)
  }
  const prepared = await preparedAll(readable, given)
  const deadline = new Deadline(core.clock, timeoutMs, () => request.raw.socket.destroyed)
  const shared: Shared = {
    deadline,
    blobData: new BlobData(mostBlobData),
    items: new ItemBudget(mostItems),
    texts: new TextBudget(mostText),
    readBudget: new ReadBudget(mostRead),
  }
  try {
    const results: ExecutionResult[] = []
    for (const each of prepared) {
      results.push(isRejected(each) ? { errors: each.errors } : await execute(each, given, shared))
    }
    return ok(asked.isBatch ? results : results[0])
  } finally {
    deadline.end()
  }
}

const ok = (json: unknown): Reply => ({ status: 200, json })

/** @throws GraphqlRefusal */
function requireWayToChange({ method, raw }: RouteRequest, caller: Caller, { settings }: Core): void {
  if (method !== 'POST') throw new GraphqlRefusal(422, 'Mutations are forbidden in GET requests')
  if (!caller.isSession) return
  const secret = sessionSecretIn(raw.headers, settings.serviceName)
  if (secret === undefined || !isFromOurPage(secret, csrfProofIn(raw.headers))) {
    throw new GraphqlRefusal(422, "Can't verify CSRF token authenticity.")
  }
}

/** A batch that asks too much all together fails in every one. */
async function preparedAll(
  readable: readonly (Readable | Rejected)[],
  { engine, caller, asked }: Asked,
): Promise<readonly (Prepared | Rejected)[]> {
  const isSignedIn = caller.actor !== undefined
  const prepared: (Prepared | Rejected)[] = []
  for (const each of readable) {
    // Others have their turn between one and the next.
    if (prepared.length > 0) await turn()
    prepared.push(isRejected(each) ? each : engine.prepare(each, isSignedIn))
  }
  const total = prepared.reduce((sum, { score = 0 }) => sum + score, 0)
  const limit = limitOf(isSignedIn, false)
  return asked.isBatch && total > limit ? Array(prepared.length).fill({ errors: [tooComplex(total, limit)] }) : prepared
}

async function execute(
  prepared: Prepared,
  { core, engine, request, caller, asked }: Asked,
  { readBudget, ...shared }: Shared,
): Promise<ExecutionResult> {
  const requireTime = () => shared.deadline.requireTime()
  const isSignedIn = caller.actor !== undefined
  const context: RequestContext = {
    core,
    reads: watchedReads(core, readBudget.watch(requireTime)),
    actor: caller.actor,
    mayWrite: caller.mayWrite,
    complexity: { score: prepared.score, limit: limitOf(isSignedIn, !asked.isBatch && prepared.isIntrospection) },
    ...shared,
    captcha: captchaAnswerIn(request.raw.headers, core.settings.serviceName),
    loaders: new Loaders(requireTime),
  }
  const { errors = [], data } = await engine.execute(prepared, context)
  const told = toldErrors(errors)
  return { ...(told.length > 0 && { errors: told }), ...(data !== undefined && { data }) }
}
