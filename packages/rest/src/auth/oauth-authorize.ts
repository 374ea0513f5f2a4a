import {
  type Authorization,
  allowAuthorization,
  type Core,
  checkAuthorization,
  OAuthRefusal,
  type User,
} from '@penstock/core'
import { html, type Reply, type RouteRequest, type ServedRoute } from '@penstock/http'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { descriptionOf } from './oauth-refusal.ts'
import { type Answer, type Page, pageRoutes, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm } from './session-cookie.ts'
import { type SignedIn, signedInUser, signInUrl } from './sign-in.ts'

const PATH = '/oauth/authorize'

/** Returns the routes of the page on which a user authorizes an application, and of its form. */
export function authorizeRoutes(core: Core): ServedRoute[] {
  return pageRoutes(core, [
    { method: 'GET', path: PATH, handle: (request) => showConsent(core, request) },
    { method: 'POST', path: PATH, handle: (request) => handleDecision(core, request) },
  ])
}

/** The parameters that the form repeats from the request, and sends back with the decision. */
const forwardedNames = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'nonce',
] as const
type ForwardedParameters = Readonly<Partial<Record<(typeof forwardedNames)[number], string>>>

/** Shows the page. Errors in the request itself are reported before the user has to sign in. */
async function showConsent(core: Core, request: RouteRequest): Promise<Answer> {
  const parameters = forwardedParameters(request.query)
  const signedIn = await signedInUser(core, request)
  return withAuthorization(core, parameters, signedIn?.user, async (authorization) => {
    const prompts = promptsOf(request)
    const needsSignIn = signedIn === undefined || prompts.has('login') || isTooLongAgo(core, request, signedIn)
    if (authorization.application.isTrusted && !needsSignIn)
      return authorized(core, signedIn, parameters, authorization)
    if (prompts.has('none')) {
      if (prompts.size > 1) throw new OAuthRefusal('invalid_request')
      const error = signedIn === undefined ? 'login_required' : 'consent_required'
      const answer = { error, error_description: silentRefusals[error] }
      return backToApplication(authorization.redirectUri, answer, parameters)
    }
    if (signedIn === undefined) return redirectReply(signInUrl(core, PATH + request.search))
    if (needsSignIn) {
      return redirectReply(signInUrl(core, PATH + withoutPrompt(request.search), { again: true }))
    }
    return consentPage(core, signedIn, parameters, authorization)
  })
}

/**
 * The errors for a request that must not show a page. Only an application of this service succeeds with such a request,
 * because users are asked for consent to any other one.
 */
const silentRefusals = {
  login_required: 'The authorization server requires end-user authentication',
  consent_required: 'The authorization server requires end-user consent',
} as const

const promptsOf = ({ query }: RouteRequest): ReadonlySet<string> =>
  new Set((fieldsOf(query).prompt ?? '').split(' ').filter((word) => word !== ''))

/** Returns whether the sign-in is older than the request allows. @see OpenID Connect Core 1.0, section 3.1.2.1 */
function isTooLongAgo({ clock }: Core, { query }: RouteRequest, { signedInAtMs }: SignedIn): boolean {
  const maxAge = fieldsOf(query).max_age
  return maxAge !== undefined && /^\d{1,9}$/.test(maxAge) && clock.nowMs() - signedInAtMs > Number(maxAge) * 1_000
}

/** Returns the query without the parameter that would ask for a sign-in again after each sign-in. */
function withoutPrompt(search: string): string {
  const query = new URLSearchParams(search)
  query.delete('prompt')
  return `?${query}`
}

/** Handles the decision. It redirects to the application only if the page of this service sent the form. */
async function handleDecision(core: Core, request: RouteRequest): Promise<Answer> {
  const fields = fieldsOf(request.body)
  const parameters = forwardedParameters(fields)
  const signedIn = await signedInUser(core, request)
  if (!isOurForm(request, signedIn?.secret, fields.csrf_token) || signedIn === undefined) {
    return errorPage(403, 'The form has expired. Go back to the application and try again.')
  }
  return withAuthorization(core, parameters, signedIn.user, async (authorization) => {
    const { redirectUri } = authorization
    if (fields.decision !== 'allow') {
      const error_description = 'The resource owner or authorization server denied the request.'
      return backToApplication(redirectUri, { error: 'access_denied', error_description }, parameters)
    }
    return authorized(core, signedIn, parameters, authorization)
  })
}

/** Sends a code to the application. */
async function authorized(
  core: Core,
  { user, signedInAtMs }: SignedIn,
  parameters: ForwardedParameters,
  authorization: Authorization,
): Promise<Answer> {
  const code = await allowAuthorization(core, user.id, authorization, signedInAtMs)
  return backToApplication(authorization.redirectUri, { code }, parameters)
}

/**
 * Checks the request and calls `proceed` with the authorization. Errors are sent to the application, or shown to the user if
 * the application or its redirect URI is unknown.
 */
async function withAuthorization(
  core: Core,
  parameters: ForwardedParameters,
  user: User | undefined,
  proceed: (authorization: Authorization) => Promise<Answer>,
): Promise<Answer> {
  try {
    const request = {
      clientId: parameters.client_id,
      redirectUri: parameters.redirect_uri,
      responseType: parameters.response_type,
      scope: parameters.scope,
      codeChallenge: parameters.code_challenge,
      codeChallengeMethod: parameters.code_challenge_method,
      nonce: parameters.nonce,
    }
    const checked = await checkAuthorization(core, request, user)
    if (checked.kind === 'consent_needed') return await proceed(checked.authorization)
    const { refusal, redirectUri } = checked
    const error = { error: refusal.code, error_description: descriptionOf(refusal) }
    return backToApplication(redirectUri, error, parameters)
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error
    return errorPage(error.code === 'invalid_client' ? 401 : 400, descriptionOf(error))
  }
}

function backToApplication(redirectUri: string, answer: Record<string, string>, { state }: ForwardedParameters): Reply {
  const query = new URLSearchParams({ ...answer, ...(state !== undefined && { state }) })
  return redirectReply(`${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`)
}

function consentPage(
  core: Core,
  { user, secret }: SignedIn,
  parameters: ForwardedParameters,
  { application, scopes, redirectUri }: Authorization,
): Page {
  const action = core.settings.externalUrl + PATH
  const fields = Object.entries(parameters).map(([name, value]) => ({ name, value }))
  return {
    status: 200,
    title: `Authorize ${application.name}?`,
    formTargets: [action, redirectUri],
    body: html`<p>You are signed in as ${user.username}. ${application.name} asks for access to your account:</p>
<ul>
${scopes.map((scope) => html`<li>${scope}</li>\n`)}</ul>
<p>You will be redirected to ${redirectUri}</p>
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(secret), ...fields])}
<p><button class="primary" name="decision" value="allow">Authorize</button> <button class="other" name="decision" value="deny">Deny</button></p>
</form>`,
  }
}

const errorPage = (status: number, text: string): Page => ({
  status,
  title: 'Cannot authorize',
  body: html`<p>${text}</p>`,
})

/** Returns the forwarded parameters of a request, without those that are empty or occur more than once. */
function forwardedParameters(source: Readonly<Record<string, unknown>>): ForwardedParameters {
  const fields = fieldsOf(source)
  return Object.fromEntries(forwardedNames.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])))
}
