import {
  type Actor,
  type Authenticated,
  accessTokenIdOf,
  admit,
  type Core,
  identify,
  type Refusal,
} from '@penstock/core'
import {
  bearerTokenIn,
  type Incoming,
  pageProofIn,
  parameterText,
  sessionSecretIn,
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

/**
 * @throws GraphqlRefusal
 * @see spec/graphql-contract.md 1.3
 */
export async function callerOf(core: Core, { raw, search }: Pick<Incoming, 'raw' | 'search'>): Promise<Caller> {
  const { headers } = raw
  const parameters = Object.fromEntries(
    urlEncodedEntries(search.slice(1)).filter(([name]) => name === 'access_token' || name === 'private_token'),
  )
  const inHeader = bearerTokenIn(headers.authorization)
  const inParameter = parameterText(parameters.access_token)
  if (inHeader !== undefined && inParameter !== undefined) {
    throw new GraphqlRefusal(400, 'Both Authorization header and payload includes access token.')
  }
  const found = await identify(core, {
    bearer: inParameter ?? inHeader,
    privateToken: parameterText(parameters.private_token) ?? parameterText(headers['private-token']),
    jobToken: parameterText(headers['job-token']),
    takesJobTokens: false,
    sessionSecret: sessionSecretIn(headers, core.settings.serviceName),
    proof: pageProofIn(headers),
    // What a session changes is looked at again, when it is known whether it changes something.
    changesNothing: true,
  })
  if (found === 'unknown') throw invalidToken()
  if (found === undefined) return { actor: undefined, mayWrite: false, isSession: false }
  const refusal = await admit(core, found, readingScopes)
  if (refusal !== undefined) throw refusals[refusal]()
  return {
    actor: actorOf(found),
    mayWrite: found.scopes.includes('api'),
    isSession: found.kind === 'session',
  }
}

function actorOf(found: Authenticated): Actor {
  const { id, username, isAdministrator } = found.user!
  const accessTokenId = accessTokenIdOf(found)
  return { id, username, isAdministrator, ...(accessTokenId !== undefined && { accessTokenId }) }
}

const invalidToken = () => new GraphqlRefusal(401, 'Invalid token')
const notForUser = () => new GraphqlRefusal(403, 'API not accessible for user')

const refusals: Readonly<Record<Refusal, () => GraphqlRefusal>> = {
  unauthenticated: invalidToken,
  expired: invalidToken,
  revoked: invalidToken,
  insufficient_scope: invalidToken,
  impersonation_disabled: invalidToken,
  blocked: notForUser,
  banned: notForUser,
  deactivated: notForUser,
}
