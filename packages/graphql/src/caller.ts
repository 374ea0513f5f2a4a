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
  type Incoming,
  csrfProofIn,
  parameterText,
  type RouteRequest,
  sessionSecretIn,
  singleParameter,
  urlEncodedEntries,
} from '@penstock/http'
import { GraphqlRefusal } from './graphql-refusal.ts'

/** Who asks, and with what right. */
export interface Caller {
  readonly actor: Actor
  /** What was shown may change things. */
  readonly mayWrite: boolean
  /** A browser's session, which any page may send: to change something, it has to show that it comes from one of ours. */
  readonly isSession: boolean
}

const readingScopes = ['api', 'read_api']

/** Where a credential may stand as a parameter, of whatever kind. */
type Parameters = Readonly<Record<string, unknown>>
const credentialNames = ['access_token', 'private_token', 'job_token']

/**
 * By headers and query.
 *
 * @throws GraphqlRefusal
 * @see spec/graphql-contract.md 1.3
 */
export const callerOf = (core: Core, incoming: Pick<Incoming, 'raw' | 'search'>): Promise<Caller> =>
  callerBy(core, incoming.raw.headers, parametersIn(incoming))

/** `undefined`: the body has no credential. @throws GraphqlRefusal */
export async function callerInBody(
  core: Core,
  { raw, search, body }: Pick<RouteRequest, 'raw' | 'search' | 'body'>,
): Promise<Caller | undefined> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (!isObject || !Object.keys(body).some((name) => credentialOf(name) !== undefined)) return undefined
  for (const name of Object.keys(body)) validateCredentialName(name)
  return callerBy(core, raw.headers, { ...parametersIn({ search }), ...body })
}

/**
 * Returns the parameters of the query.
 * @throws GraphqlRefusal for a credential that comes twice, or as a list or an object
 */
function parametersIn({ search }: Pick<Incoming, 'search'>): Parameters {
  const found: Record<string, string> = {}
  for (const [name, value] of urlEncodedEntries(search.slice(1))) {
    if (credentialOf(name) === undefined) continue
    validateCredentialName(name)
    if (Object.hasOwn(found, name)) throw new GraphqlRefusal(400, `${name} is invalid`)
    found[name] = value
  }
  return found
}

/** Returns the credential that a parameter belongs to: `private_token` for `private_token[]`. */
const credentialOf = (name: string): string | undefined =>
  credentialNames.find((credential) => name === credential || name.startsWith(`${credential}[`))

function validateCredentialName(name: string): void {
  const credential = credentialOf(name)
  if (credential !== undefined && credential !== name) throw new GraphqlRefusal(400, `${credential} is invalid`)
}

async function callerBy(core: Core, headers: IncomingHttpHeaders, parameters: Parameters): Promise<Caller> {
  const inHeader = bearerTokenIn(headers.authorization)
  const inParameter = credentialIn(parameters, 'access_token')
  if (inHeader !== undefined && inParameter !== undefined) {
    throw new GraphqlRefusal(400, 'Both Authorization header and payload includes access token.')
  }
  const bearer = inParameter ?? inHeader
  const privateToken = credentialIn(parameters, 'private_token') ?? parameterText(headers['private-token'])
  const ofNoUse = credentialIn(parameters, 'job_token') ?? headers['job-token'] ?? headers['deploy-token']
  const isToken = [bearer, privateToken, parameterText(ofNoUse)].some((text) => text !== undefined)
  const found = await identify(core, {
    bearer,
    privateToken,
    takesJobTokens: false,
    sessionSecret: sessionSecretIn(headers, core.settings.serviceName),
    proof: csrfProofIn(headers),
    // What a session changes is looked at again, when it is known whether it changes something.
    changesNothing: true,
  })
  // Whoever shows a token is known by it or not at all: neither as nobody, nor by what else they show.
  if (found === 'unknown' || (isToken && (found === undefined || found.kind === 'session'))) throw invalidToken()
  if (found === undefined) return { actor: undefined, mayWrite: false, isSession: false }
  const refusal = await admit(core, found, readingScopes)
  if (refusal !== undefined) throw refusals[refusal](found.user?.id)
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
    throw new GraphqlRefusal(400, `${name} is invalid`)
  }
}

function actorOf(found: Authenticated): Actor {
  const accessTokenId = accessTokenIdOf(found)
  return { ...actingUser(found.user!), ...(accessTokenId !== undefined && { accessTokenId }) }
}

const invalidToken = () => new GraphqlRefusal(401, 'Invalid token')
const outOfScope = (userId?: number) => new GraphqlRefusal(401, 'Invalid token', { userId })
const notForUser = (userId?: number) => new GraphqlRefusal(403, 'API not accessible for user', { userId })

const refusals: Readonly<Record<Refusal, (userId?: number) => GraphqlRefusal>> = {
  unauthenticated: invalidToken,
  expired: invalidToken,
  revoked: invalidToken,
  insufficient_scope: outOfScope,
  impersonation_disabled: invalidToken,
  blocked: notForUser,
  banned: notForUser,
  deactivated: notForUser,
}
