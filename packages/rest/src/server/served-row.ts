import { type Core, DomainError, type KeysetPage, type Page, perform, requireCaller } from '@penstock/core'
import {
  type Admitted,
  captchaAnswerIn,
  type FormRules,
  type Incoming,
  type Reply,
  type RouteRequest,
  type ServedRoute,
  urlEncodedEntries,
} from '@penstock/http'
import { type Clock, subscriberOf } from '@penstock/runtime'
import { z } from 'zod'
import type { authenticate } from '../auth/authenticate.ts'
import { toRestError } from '../routing/error-response.ts'
import { keysetHeaders, type ListRequest, pageHeaders } from '../routing/page-headers.ts'
import { HEADER_INPUT, noNames, parametersOf } from '../routing/parameter-names.ts'
import { mergeParameters, type RequestParameters } from '../routing/request-parameters.ts'
import { CallerRefusal, RestError } from '../routing/rest-error.ts'
import { API_PREFIX, type JsonContext, type RestRoute } from '../routing/route.ts'
import { shapeOf } from '../routing/schema-traits.ts'
import { toInput } from '../routing/to-input.ts'
import type { DocumentReader } from './document-reader.ts'
import { redirectFormerPath } from './former-path.ts'
import { type Throttle, WindowLimiter } from './rate-limit.ts'

export type Authenticate = typeof authenticate
type Caller = Awaited<ReturnType<Authenticate>>

export interface RowDeps {
  readonly core: Core
  readonly authenticate: Authenticate
  /** The throttle, or `undefined` if requests are not counted. */
  readonly throttle: Throttle | undefined
  readonly limits: RowLimits
  readonly documents: Pick<DocumentReader, 'read'>
}

/** The parameters that identify or change the caller. If the body has one, the caller is looked up again. */
const credentialNames = ['private_token', 'access_token', 'bearer_token', 'job_token', 'token', 'sudo']

/** The body schema of all routes: an optional body, for any method. */
const anyBody = z.unknown()
/** The body limits for a caller who is not authenticated yet; a small form may still have a credential. */
const anonymousFormLimits: FormRules = { limitBytes: 64 * 1024, fileLimitBytes: 64 * 1024 }

/** Converts a row of the REST API to a route of the HTTP package. */
export function servedRow(row: RestRoute, deps: RowDeps): ServedRoute {
  return {
    method: row.method,
    path: `${API_PREFIX}${row.path}${row.endsInName ? '' : '{.json}'}`,
    body: anyBody,
    forms: {
      ...(row.bodyLimitBytes !== undefined && { limitBytes: row.bodyLimitBytes }),
      ...(row.jsonLimits !== undefined && { jsonLimits: row.jsonLimits }),
      ...(row.fileLimitBytes !== undefined && { fileLimitBytes: row.fileLimitBytes }),
      ...(row.bodyTextAs !== undefined && { keepsBytes: true }),
    },
    async admit(incoming) {
      await deps.throttle?.requireFailureAllowance(incoming)
      const early = await callerByHeaders(row, incoming, deps)
      await deps.throttle?.count(incoming, throttledUserId(early))
      requireJsonFormat(row, incoming)
      return { handle: (request) => answer(row, request, deps, early), ...bodyRulesFor(row, early) }
    },
  }
}

/**
 * Returns the body limits for a caller. The body of an unauthenticated caller is read only up to the size that a credential
 * needs. A longer body gets the error for missing authentication.
 */
function bodyRulesFor(
  { operation }: RestRoute,
  { caller, refusal }: EarlyCaller,
): Pick<Admitted, 'forms' | 'beyondLimit'> {
  if (refusal !== undefined) return { forms: anonymousFormLimits, beyondLimit: refusal }
  try {
    requireCaller(caller?.actor, operation.caller)
  } catch (beyondLimit) {
    return { forms: anonymousFormLimits, beyondLimit }
  }
  return caller?.actor === undefined ? { forms: anonymousFormLimits } : {}
}

/** The caller by query and headers, or the refusal of the credential, which is reported later in the order of checks. */
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

async function callerOf(
  row: RestRoute,
  incoming: Incoming,
  parameters: RequestParameters['values'],
  { core, authenticate, throttle }: RowDeps,
): Promise<Caller> {
  const { method, raw, source } = incoming
  try {
    return await authenticate(
      core,
      { method, headers: raw.headers, parameters, source },
      {
        scopes: row.scopes ?? [],
        takesJobTokens: row.takesJobTokens === true,
        authenticates: row.ignoresCredentials !== true,
      },
    )
  } catch (refusal) {
    if (refusal instanceof RestError && refusal.status === 401) await throttle?.countFailure(incoming)
    throw refusal
  }
}

const queryOf = ({ search }: Incoming) => urlEncodedEntries(search.slice(1))

/** Rejects a `format` other than JSON, unless the route has a parameter with that name. @throws RestError 406 */
function requireJsonFormat(row: RestRoute, incoming: Incoming): void {
  if (!/format|%/.test(incoming.search)) return
  const { format } = mergeParameters({ query: queryOf(incoming), path: {} }).values
  if (format === undefined || format === 'json') return
  if (parametersOf(row.operation.input, row.names).some(({ name }) => name === 'format')) return
  const shown = typeof format === 'string' ? format : ''
  throw new RestError(406, { error: `The requested format '${shown}' is not supported.` })
}

async function answer(row: RestRoute, request: RouteRequest, deps: RowDeps, early: EarlyCaller): Promise<Reply> {
  const { form, body, params } = request
  const isDocument = row.bodyTextAs !== undefined
  const parameters = mergeParameters(
    isDocument ? { query: [], path: params } : { query: queryOf(request), form, body, path: params },
  )
  const isCallerInBody = !isDocument && hasCredential(request)
  const caller = isCallerInBody ? await settledCaller(callerOf(row, request, parameters.values, deps)) : early
  const counted = throttledUserId(caller)
  if (counted !== undefined && throttledUserId(early) === undefined) await deps.throttle?.recount(request, counted)
  const { actor } = requireAuthenticated(caller)
  const { core, limits } = deps
  const { operation, names = noNames } = row
  try {
    requireCaller(actor, operation.caller)
    await limits.count(row, actor?.id, request.source)
    const values = { ...toInput(operation.input, names, parameters), ...captchaOf(row, request, core) }
    const input = isDocument ? await deps.documents.read(row, request.bytes ?? emptyDocument, values) : values
    const result = await perform(core, actor, operation, input)
    return replyTo(row, result, request, parameters, core)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    await redirectFormerPath(row, error, { routePath: API_PREFIX + row.path, request, core, actor })
    throw toRestError(error, row)
  }
}

/** The document that replaces a missing body, so that the error lists the missing members. */
const emptyDocument = Buffer.from('{}')

/** Returns the CAPTCHA answer in the headers, for a request that is repeated after it was rejected as spam. */
function captchaOf({ operation }: RestRoute, { raw }: RouteRequest, { settings }: Core) {
  if (!Object.hasOwn(shapeOf(operation.input) ?? {}, HEADER_INPUT)) return {}
  const captcha = captchaAnswerIn(raw.headers, settings.serviceName)
  return captcha && { [HEADER_INPUT]: captcha }
}

/** Tells whether a body has a credential. It checks only names, because merging the parameters again would be expensive. */
function hasCredential({ form, body }: RouteRequest): boolean {
  // `token[]` also sets the parameter `token`.
  if (form !== undefined) return form.some(([name]) => credentialNames.includes(name.split('[', 1)[0]!))
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  return credentialNames.some((name) => Object.hasOwn(body, name))
}

/** Returns the user that the throttle counts: the owner of the credential, even if it was rejected or used for sudo. */
const throttledUserId = ({ caller, refusal }: EarlyCaller): number | undefined =>
  refusal instanceof CallerRefusal ? refusal.userId : (caller?.sudoerId ?? caller?.actor?.id)

const settledCaller = (caller: Promise<Caller>): Promise<EarlyCaller> =>
  caller.then(
    (found) => ({ caller: found }),
    (refusal: unknown) => ({ refusal }),
  )

function requireAuthenticated({ caller, refusal }: EarlyCaller): Caller {
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
  const { shape, content, operation, names = noNames } = row
  if (result === undefined) return { status: 204 }
  const status = row.isCreated?.(result) ? 201 : successStatus(row)
  if (shape === undefined && content === undefined) return { status }
  const headers = row.headers?.(result)
  if (content !== undefined) {
    const { type, body } = content(result)
    return { status, ...(headers && { headers }), content: body, contentType: type }
  }
  const context: JsonContext = {
    externalUrl: settings.externalUrl,
    serviceName: settings.serviceName,
    nowMs: clock.nowMs(),
  }
  const of = (value: unknown) => shape!.of(value as never, context)
  const list: ListRequest = {
    url: settings.externalUrl + encodedPath(request.path),
    input: operation.input,
    names,
    values,
  }
  if (isKeysetPage(result)) return { status, headers: keysetHeaders(result, list), json: result.items.map(of) }
  if (isPage(result)) return { status, headers: pageHeaders(result, list), json: result.items.map(of) }
  return { status, ...(headers && { headers }), json: Array.isArray(result) ? result.map(of) : of(result) }
}

/** Returns the status of a successful call. */
export function successStatus({ status, method, shape, content }: RestRoute): number {
  if (status !== undefined) return status
  if (shape === undefined && content === undefined) return 204
  return method === 'POST' ? 201 : 200
}

const has = (value: unknown, ...keys: string[]): boolean =>
  typeof value === 'object' && value !== null && keys.every((key) => key in value)
const isPage = (result: unknown): result is Page<unknown> => has(result, 'items', 'page', 'perPage', 'hasNext')
const isKeysetPage = (result: unknown): result is KeysetPage<unknown> => has(result, 'items', 'perPage', 'nextCursor')

/** Encodes characters that a client may send unescaped in a path, but that would end the URL in a Link header. */
const encodedPath = (path: string): string => path.replaceAll(/[^\x21\x23-\x3b\x3d\x3f-\x7e]/g, encodeURIComponent)

/** The counters for the limits of single routes, by the names of the limits. */
export class RowLimits {
  readonly #clock: Clock
  readonly #limiters = new Map<string, WindowLimiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws DomainError `too_often` */
  async count({ limit }: RestRoute, userId: number | undefined, source: string): Promise<void> {
    if (limit === undefined) return
    const limiter = this.#limiters.get(limit.name) ?? new WindowLimiter(limit, this.#clock)
    this.#limiters.set(limit.name, limiter)
    const { isAbove, secondsLeft } = await limiter.count(userId === undefined ? subscriberOf(source) : `user:${userId}`)
    if (isAbove) throw new DomainError({ code: 'too_often', retryAfterSeconds: secondsLeft })
  }
}
