import type { IncomingHttpHeaders } from 'node:http'
import {
  type Actor,
  type Authenticated,
  accessTokenIdOf,
  actingUser,
  admit,
  type Core,
  identify,
  type Refusal,
} from '@penstock/core'
import {
  bearerTokenIn,
  csrfProofIn,
  type Incoming,
  parameterText,
  type RouteRequest,
  sessionSecretIn,
  singleParameter,
  urlEncodedEntries,
} from '@penstock/http'
import { GraphqlRequestError } from './graphql-request-error.ts'

/** The user who sent a request, and what the credential permits. */
export interface Caller {
  readonly actor: Actor
  /** Whether the credential permits mutations. */
  readonly mayWrite: boolean
  /** Whether the credential is a browser session. Any page can send one, so mutations also need a CSRF token. */
  readonly isSession: boolean
}

const readingScopes = ['api', 'read_api']

/** The parameters of a query string or body, which may contain credentials. */
type Parameters = Readonly<Record<string, unknown>>
const credentialNames = ['access_token', 'private_token', 'job_token']

/** Identifies the caller by headers and query string. @throws GraphqlRequestError */
export const callerOf = (core: Core, incoming: Pick<Incoming, 'raw' | 'search'>): Promise<Caller> =>
  identifyCaller(core, incoming.raw.headers, parametersIn(incoming))

/** Identifies the caller by the body. Returns `undefined` if it has no credential. @throws GraphqlRequestError */
export async function callerInBody(
  core: Core,
  { raw, search, body }: Pick<RouteRequest, 'raw' | 'search' | 'body'>,
): Promise<Caller | undefined> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (!isObject || !Object.keys(body).some((name) => credentialOf(name) !== undefined)) return undefined
  for (const name of Object.keys(body)) validateCredentialName(name)
  return identifyCaller(core, raw.headers, { ...parametersIn({ search }), ...body })
}

/**
 * Returns the credentials in the query string.
 *
 * @throws GraphqlRequestError for a credential that occurs twice, or that is a list or an object
 */
function parametersIn({ search }: Pick<Incoming, 'search'>): Parameters {
  const found: Record<string, string> = {}
  for (const [name, value] of urlEncodedEntries(search.slice(1))) {
    if (credentialOf(name) === undefined) continue
    validateCredentialName(name)
    if (Object.hasOwn(found, name)) throw new GraphqlRequestError(400, `${name} is invalid`)
    found[name] = value
  }
  return found
}

/** Returns the credential that a parameter belongs to: `private_token` for `private_token[]`. */
const credentialOf = (name: string): string | undefined =>
  credentialNames.find((credential) => name === credential || name.startsWith(`${credential}[`))

function validateCredentialName(name: string): void {
  const credential = credentialOf(name)
  if (credential !== undefined && credential !== name) throw new GraphqlRequestError(400, `${credential} is invalid`)
}

async function identifyCaller(core: Core, headers: IncomingHttpHeaders, parameters: Parameters): Promise<Caller> {
  const inHeader = bearerTokenIn(headers.authorization)
  // A client that sends the header means to sign in, so a header without a bearer token is never treated as anonymous.
  if (headers.authorization !== undefined && inHeader === undefined) throw invalidToken()
  const inParameter = credentialIn(parameters, 'access_token')
  if (inHeader !== undefined && inParameter !== undefined) {
    throw new GraphqlRequestError(400, 'Both Authorization header and payload includes access token.')
  }
  const bearer = inParameter ?? inHeader
  const privateToken = credentialIn(parameters, 'private_token') ?? parameterText(headers['private-token'])
  const unsupportedToken = credentialIn(parameters, 'job_token') ?? headers['job-token'] ?? headers['deploy-token']
  const hasToken = [bearer, privateToken, parameterText(unsupportedToken)].some((text) => text !== undefined)
  const found = await identify(core, {
    bearer,
    privateToken,
    takesJobTokens: false,
    sessionSecret: sessionSecretIn(headers, core.settings.serviceName),
    proof: csrfProofIn(headers),
    // The CSRF token is checked later, when it is known whether the request contains a mutation.
    changesNothing: true,
  })
  // A request with an invalid token is rejected, even if it also has a valid session. It is never treated as anonymous.
  if (found === 'unknown' || (hasToken && (found === undefined || found.kind === 'session'))) throw invalidToken()
  if (found === undefined) return { actor: undefined, mayWrite: false, isSession: false }
  const refusal = await admit(core, found, readingScopes)
  if (refusal !== undefined) throw refusalErrors[refusal](found.user?.id)
  return {
    actor: actorOf(found),
    mayWrite: found.scopes.includes('api'),
    isSession: found.kind === 'session',
  }
}

function credentialIn(parameters: Parameters, name: string): string | undefined {
  try {
    return singleParameter(parameters, name)
  } catch {
    throw new GraphqlRequestError(400, `${name} is invalid`)
  }
}

function actorOf(found: Authenticated): Actor {
  const accessTokenId = accessTokenIdOf(found)
  return {
    ...actingUser(found.user!),
    ...(found.kind === 'session' && { isSession: true }),
    ...(accessTokenId !== undefined && { accessTokenId }),
  }
}

const invalidToken = () => new GraphqlRequestError(401, 'Invalid token')
const outOfScope = (userId?: number) => new GraphqlRequestError(401, 'Invalid token', { userId })
const notForUser = (userId?: number) => new GraphqlRequestError(403, 'API not accessible for user', { userId })

const refusalErrors: Readonly<Record<Refusal, (userId?: number) => GraphqlRequestError>> = {
  unauthenticated: invalidToken,
  expired: invalidToken,
  revoked: invalidToken,
  insufficient_scope: outOfScope,
  impersonation_disabled: invalidToken,
  blocked: notForUser,
  banned: notForUser,
  deactivated: notForUser,
}
