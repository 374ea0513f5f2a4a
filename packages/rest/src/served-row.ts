import { type Core, DomainError, type KeysetPage, type Page, perform, requireCaller } from '@penstock/core'
import { type Incoming, type Reply, type RouteRequest, type ServedRoute, urlEncodedEntries } from '@penstock/http'
import type { Clock } from '@penstock/runtime'
import { z } from 'zod'
import type { authenticate } from './authenticate.ts'
import { restErrorOf } from './error-response.ts'
import { requireNoFormerPath } from './former-path.ts'
import { keysetHeaders, type ListedAt, pageHeaders } from './page-headers.ts'
import { parametersOf } from './parameter-names.ts'
import { type Counted, networkOf, WindowLimiter } from './rate-limit.ts'
import { mergeParameters, type RequestParameters } from './request-parameters.ts'
import { RestError } from './rest-error.ts'
import type { JsonContext, RestRoute } from './route.ts'
import { toInput } from './to-input.ts'

export type Authenticate = typeof authenticate
type Caller = Awaited<ReturnType<Authenticate>>

export interface RowDeps {
  /** Before the paths of all rows. */
  readonly prefix: string
  readonly core: Core
  readonly authenticate: Authenticate
  /** Counts the request for the throttle; throws when it is one too many. */
  count(incoming: Incoming, userId: number | undefined): Promise<void>
  readonly limits: RowLimits
}

/** Parameters that are or change who calls. In a body, they make it necessary to look again. */
const credentialNames = ['private_token', 'access_token', 'bearer_token', 'job_token', 'token', 'sudo']

/** That there may be a body, of any method. */
const anyBody = z.unknown()

/** A row as the kit serves it. */
export function servedRow(row: RestRoute, deps: RowDeps): ServedRoute {
  return {
    method: row.method,
    path: `${deps.prefix}${row.path}${row.endsInName ? '' : '{.json}'}`,
    body: anyBody,
    forms: row.fileLimitBytes === undefined ? {} : { fileLimitBytes: row.fileLimitBytes },
    async admit(incoming) {
      const early = await callerByHeaders(row, incoming, deps)
      await deps.count(incoming, early.caller?.actor?.id)
      requireJsonFormat(row, incoming)
      return (request) => answer(row, request, deps, early)
    },
  }
}

/** Who calls, as far as the query and the headers tell; a refusal waits until its turn in the order of checks. */
interface EarlyCaller {
  readonly caller?: Caller
  readonly refusal?: unknown
}

async function callerByHeaders(row: RestRoute, incoming: Incoming, deps: RowDeps): Promise<EarlyCaller> {
  try {
    const { values } = mergeParameters({ query: queryOf(incoming), path: {} })
    return { caller: await callerOf(row, incoming, values, deps) }
  } catch (refusal) {
    return { refusal }
  }
}

function callerOf(
  row: RestRoute,
  { method, raw, source }: Incoming,
  parameters: RequestParameters['values'],
  { core, authenticate }: RowDeps,
): Promise<Caller> {
  return authenticate(
    core,
    { method, headers: raw.headers, parameters, source },
    { scopes: row.scopes ?? [], takesJobTokens: row.takesJobTokens === true, asks: row.ignoresCredentials !== true },
  )
}

const queryOf = ({ search }: Incoming) => urlEncodedEntries(search.slice(1))

/** @throws RestError 406, unless the row has a parameter of that name, which the platform takes for the format too */
function requireJsonFormat(row: RestRoute, incoming: Incoming): void {
  const { format } = mergeParameters({ query: queryOf(incoming), path: {} }).values
  if (format === undefined || format === 'json') return
  if (parametersOf(row.operation.input, row.names).some(({ name }) => name === 'format')) return
  const shown = typeof format === 'string' ? format : ''
  throw new RestError(406, { error: `The requested format '${shown}' is not supported.` })
}

async function answer(row: RestRoute, request: RouteRequest, deps: RowDeps, early: EarlyCaller): Promise<Reply> {
  const { form, body, params } = request
  const parameters = mergeParameters({ query: queryOf(request), form, body, path: params })
  const inBody = mergeParameters({ query: [], form, body, path: {} }).values
  const { actor } = credentialNames.some((name) => Object.hasOwn(inBody, name))
    ? await callerOf(row, request, parameters.values, deps)
    : settled(early)
  const { core, limits } = deps
  const { operation, names = {} } = row
  try {
    requireCaller(actor, operation.caller)
    await limits.count(row, { userId: actor?.id, source: request.source })
    const result = await perform(core, actor, operation, toInput(operation.input, names, parameters))
    return replyTo(row, result, request, parameters, core)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    await requireNoFormerPath(row, error, { routePath: deps.prefix + row.path, request, core, actor })
    throw restErrorOf(error, row)
  }
}

function settled({ caller, refusal }: EarlyCaller): Caller {
  if (caller === undefined) throw refusal
  return caller
}

function replyTo(
  row: RestRoute,
  result: unknown,
  request: RouteRequest,
  { values }: RequestParameters,
  { settings, clock }: Core,
): Reply {
  const { shape, content, operation, names = {} } = row
  if (result === undefined) return { status: 204 }
  const status = statusOf(row)
  if (shape === undefined && content === undefined) return { status }
  if (content !== undefined) {
    const { type, body, headers } = content(result)
    return { status, ...(headers && { headers }), content: body, contentType: type }
  }
  const context: JsonContext = {
    externalUrl: settings.externalUrl,
    serviceName: settings.serviceName,
    nowMs: clock.nowMs(),
  }
  const of = (value: unknown) => shape!.of(value as never, context)
  const at: ListedAt = { url: settings.externalUrl + safePath(request.path), input: operation.input, names, values }
  if (isKeysetPage(result)) return { status, headers: keysetHeaders(result, at), json: result.items.map(of) }
  if (isPage(result)) return { status, headers: pageHeaders(result, at), json: result.items.map(of) }
  return { status, json: Array.isArray(result) ? result.map(of) : of(result) }
}

/** Of success. */
export function statusOf({ status, method, shape, content }: RestRoute): number {
  if (status !== undefined) return status
  if (shape === undefined && content === undefined) return 204
  return method === 'POST' ? 201 : 200
}

const has = (value: unknown, ...keys: string[]): boolean =>
  typeof value === 'object' && value !== null && keys.every((key) => key in value)
const isPage = (result: unknown): result is Page<unknown> => has(result, 'items', 'page', 'perPage', 'hasNext')
const isKeysetPage = (result: unknown): result is KeysetPage<unknown> => has(result, 'items', 'perPage', 'nextCursor')

/** As a part of a header: what a client wrote into the path unescaped must not end the URL there. */
const safePath = (path: string): string => path.replaceAll(/[^\x21\x23-\x3b\x3d\x3f-\x7e]/g, encodeURIComponent)

/** The limits of rows, by their names. */
export class RowLimits {
  readonly #clock: Clock
  readonly #limiters = new Map<string, WindowLimiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws DomainError `too_often` */
  async count({ limit }: RestRoute, { userId, source }: Counted): Promise<void> {
    if (limit === undefined) return
    const limiter = this.#limiters.get(limit.name) ?? new WindowLimiter(limit, this.#clock)
    this.#limiters.set(limit.name, limiter)
    const { isAbove, secondsLeft } = await limiter.count(userId === undefined ? networkOf(source) : `user:${userId}`)
    if (isAbove) throw new DomainError({ code: 'too_often', retryAfterSeconds: secondsLeft })
  }
}
