import {
  type Actor,
  type Authenticated,
  accessTokenIdOf,
  actingUser,
  admit,
  type Core,
  identify,
  type Refusal,
  type SudoRefusal,
  sudo,
  type User,
} from '@penstock/core'
import { csrfProofIn, parameterText, sessionSecretIn, singleParameter } from '@penstock/http'
import { CallerRefusal, RestError } from '../routing/rest-error.ts'
import { oauthTokenIn } from './bearer-token.ts'

/** The parts of a request that can carry credentials. */
export interface CredentialRequest {
  readonly method: string
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The parameters of the query and the body together. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** The address of the client. */
  readonly source: string
}

/** The credentials that an endpoint accepts. */
export interface EndpointAccess {
  /** The accepted scopes besides `api`, and besides `read_api` for GET and HEAD. */
  readonly scopes: readonly string[]
  readonly takesJobTokens: boolean
  /** False if the endpoint ignores all credentials. */
  readonly authenticates: boolean
}

export interface Caller {
  readonly actor: Actor
  /** The id of the administrator who sent the request, if it uses sudo. `actor` is then the user that it names. */
  readonly sudoerId?: number
}

/**
 * Returns the caller of a request. The actor is `undefined` if the request has no credential; the operation decides whether
 * that is sufficient.
 *
 * @throws RestError for a credential that is unknown or may not be used here
 */
export async function authenticate(core: Core, request: CredentialRequest, access: EndpointAccess): Promise<Caller> {
  if (!access.authenticates) return { actor: undefined }
  const changesNothing = request.method === 'GET' || request.method === 'HEAD'
  const tokens = tokensIn(request, access)
  const found = await identify(core, {
    ...tokens,
    takesJobTokens: access.takesJobTokens,
    sessionSecret: sessionSecretIn(request.headers, core.settings.serviceName),
    proof: csrfProofIn(request.headers),
    changesNothing,
  })
  if (found === 'unknown') throw /\s/.test(tokens.bearer ?? '') ? invalidToken('Token is malformed.') : unauthorized()
  const target = singleParameter(request.parameters, 'sudo') ?? parameterText(request.headers.sudo)
  if (found === undefined) {
    if (target !== undefined) throw unauthorized()
    return { actor: undefined }
  }
  const accepted = [...new Set(['api', ...(changesNothing ? ['read_api'] : []), ...access.scopes])]
  // With sudo, only the scope `sudo` matters, and `sudo()` checks it.
  const refusal = await admit(core, found, target === undefined ? accepted : undefined)
  if (refusal !== undefined) throw refusalOf(found, answers[refusal](accepted, core))
  const accessTokenId = accessTokenIdOf(found)
  const { projectId: jobProjectId, jobId } = found
  const user = target === undefined ? found.user! : await sudoUser(core, found, target)
  return {
    actor: {
      ...actingUser(user),
      ...(found.kind === 'session' && { isSession: true }),
      ...(accessTokenId !== undefined && { accessTokenId }),
      ...(jobProjectId !== undefined && { jobProjectId }),
      ...(jobId !== undefined && { jobId }),
    },
    ...(target !== undefined && { sudoerId: found.user!.id }),
  }
}

/** Returns one credential of each kind, from the first place in the request that has one. */
const tokensIn = ({ headers, parameters }: CredentialRequest, { takesJobTokens }: EndpointAccess) => ({
  bearer: oauthTokenIn(headers.authorization, parameters),
  privateToken: singleParameter(parameters, 'private_token') ?? parameterText(headers['private-token']),
  jobToken:
    singleParameter(parameters, 'job_token') ??
    // For other operations, `token` is an ordinary parameter.
    (takesJobTokens ? singleParameter(parameters, 'token') : undefined) ??
    parameterText(headers['job-token']),
})

async function sudoUser(core: Core, found: Authenticated, target: string): Promise<User> {
  const user = await sudo(core, found, target)
  if (typeof user === 'string') throw refusalOf(found, sudoAnswers[user](target))
  return user
}

const REALM = 'Bearer realm="Protected by OAuth 2.0"'
const unauthorized = () => new RestError(401, { message: '401 Unauthorized' })
const forbidden = (reason: string) => new RestError(403, { message: `403 Forbidden - ${reason}` })

function invalidToken(description: string): RestError {
  return new RestError(
    401,
    { message: '401 Unauthorized', error: 'invalid_token', error_description: description },
    { 'WWW-Authenticate': `${REALM}, error="invalid_token", error_description="${description}"` },
  )
}

function insufficientScope(accepted: readonly string[]): RestError {
  const description = 'The request requires higher privileges than provided by the access token.'
  const scope = accepted.join(' ')
  return new RestError(
    403,
    { error: 'insufficient_scope', error_description: description, scope },
    {
      'WWW-Authenticate': `${REALM}, error="insufficient_scope", error_description="${description}", scope="${scope}"`,
    },
  )
}

/** The error response for each reason to reject a known credential. GitLab clients match on these texts. */
const answers: Readonly<Record<Refusal, (accepted: readonly string[], core: Core) => RestError>> = {
  unauthenticated: unauthorized,
  expired: () => invalidToken('Token is expired. You can either do re-authorization or token refresh.'),
  revoked: () => invalidToken('Token was revoked. You have to re-authorize from the user.'),
  insufficient_scope: insufficientScope,
  impersonation_disabled: () => invalidToken('Token is an impersonation token but impersonation was disabled.'),
  blocked: () => forbidden('Your account has been blocked.'),
  banned: () => forbidden('Your account has been blocked.'),
  deactivated: (_, { settings }) =>
    forbidden(
      'Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate ' +
        `your account at ${settings.externalUrl}`,
    ),
}

/** The error response for each reason to reject sudo. GitLab clients match on these texts. */
const sudoAnswers: Readonly<Record<SudoRefusal, (target: string) => RestError>> = {
  not_administrator: () => forbidden('Must be admin to use sudo'),
  wrong_credential: () => forbidden('Must be authenticated using an OAuth or personal access token to use sudo'),
  insufficient_scope: () => insufficientScope(['sudo']),
  no_such_user: (target) => new RestError(404, { message: `404 User with ID or username ${target} Not Found` }),
}

/** Adds the user to the refusal of a valid credential, so that the throttle counts the user and not the address. */
function refusalOf({ user }: Authenticated, { status, body, headers }: RestError): RestError {
  if (user === undefined || status === 401) return new RestError(status, body, headers)
  return new CallerRefusal(user.id, status, body, headers)
}
