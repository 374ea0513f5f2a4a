import { type Core, requireCaller } from '@penstock/core'
import type { Admitted, FormRules, Incoming, RouteRequest } from '@penstock/http'
import type { authenticate } from '../auth/authenticate.ts'
import type { RequestParameters } from '../routing/request-parameters.ts'
import { CallerRefusal, RestError } from '../routing/rest-error.ts'
import type { RestRoute } from '../routing/route.ts'
import type { Throttle } from './rate-limit.ts'
import { queryParameters } from './row-input.ts'

export type Authenticate = typeof authenticate
type Caller = Awaited<ReturnType<Authenticate>>

export interface CallerDeps {
  readonly core: Core
  readonly authenticate: Authenticate
  /** The throttle, or `undefined` if requests are not counted. */
  readonly throttle: Throttle | undefined
}

/** The parameters that identify or change the caller. If the body has one, the caller is looked up again. */
const credentialNames = ['private_token', 'access_token', 'bearer_token', 'job_token', 'token', 'sudo']

/** The caller, or the refusal of the credential, which is reported later in the order of checks. */
interface CallerOrRefusal {
  readonly caller?: Caller
  readonly refusal?: unknown
}

/** The caller by query and headers, which are known before the body arrives. */
export type EarlyCaller = CallerOrRefusal

/** Looks up the caller by query and headers. Counts a refused credential. */
export const callerByHeaders = (row: RestRoute, incoming: Incoming, deps: CallerDeps): Promise<EarlyCaller> =>
  settled(async () => callerOf(row, incoming, queryParameters(incoming), deps))

/**
 * Returns the caller of a request with its body, which may contain another credential. Counts the request for its user if
 * only the body identifies one.
 *
 * @throws the refusal of the credential
 */
export async function callerOfRequest(
  row: RestRoute,
  request: RouteRequest,
  parameters: RequestParameters['values'],
  early: EarlyCaller,
  deps: CallerDeps,
): Promise<Caller> {
  const isInBody = row.bodyTextAs === undefined && hasCredential(request)
  const found = isInBody ? await settled(() => callerOf(row, request, parameters, deps)) : early
  const counted = throttledUserId(found)
  if (counted !== undefined && throttledUserId(early) === undefined) await deps.throttle?.recount(request, counted)
  if (found.caller === undefined) throw found.refusal
  return found.caller
}

const settled = (lookUp: () => Promise<Caller>): Promise<CallerOrRefusal> =>
  lookUp().then(
    (caller) => ({ caller }),
    (refusal: unknown) => ({ refusal }),
  )

async function callerOf(
  row: RestRoute,
  incoming: Incoming,
  parameters: RequestParameters['values'],
  { core, authenticate, throttle }: CallerDeps,
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

/** Returns whether a body has a credential. It checks only names, because merging the parameters again would be expensive. */
function hasCredential({ form, body }: RouteRequest): boolean {
  // `token[]` also sets the parameter `token`.
  if (form !== undefined) return form.some(([name]) => credentialNames.includes(name.split('[', 1)[0]!))
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  return credentialNames.some((name) => Object.hasOwn(body, name))
}

/** Returns the user that the throttle counts: the owner of the credential, even if it was rejected or used for sudo. */
export const throttledUserId = ({ caller, refusal }: CallerOrRefusal): number | undefined =>
  refusal instanceof CallerRefusal ? refusal.userId : (caller?.sudoerId ?? caller?.actor?.id)

/** The body limits for a caller who is not authenticated yet; a small form may still have a credential. */
const anonymousFormLimits: FormRules = { limitBytes: 64 * 1024, fileLimitBytes: 64 * 1024 }

/**
 * Returns the body limits for a caller. The body of an unauthenticated caller is read only up to the size that a credential
 * needs. A longer body gets the error for missing authentication.
 */
export function bodyRulesFor(
  { operation, filesOnDisk }: RestRoute,
  { caller, refusal }: EarlyCaller,
): Pick<Admitted, 'forms' | 'beyondLimit'> {
  const forms = { ...anonymousFormLimits, ...(filesOnDisk && { filesOnDisk }) }
  if (refusal !== undefined) return { forms, beyondLimit: refusal }
  try {
    requireCaller(caller?.actor, operation.caller)
  } catch (beyondLimit) {
    return { forms, beyondLimit }
  }
  return caller?.actor === undefined ? { forms } : {}
}
