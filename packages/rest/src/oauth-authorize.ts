import {
  type Authorization,
  allowAuthorization,
  type Core,
  checkAuthorization,
  OAuthRefusal,
  type User,
} from '@penstock/core'
import { html, type Reply, type RouteRequest, type ServedRoute, unguarded } from '@penstock/http'
import { z } from 'zod'
import { descriptionOf } from './oauth-refusal.ts'
import { pageReply, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm, SMALL_FORM_LIMITS } from './session-cookie.ts'
import { fieldsOf, hiddenFields, signedInUser, signInUrl } from './sign-in.ts'

const PATH = '/oauth/authorize'

/** The page on which a user allows an application to act for them, and what its form does. */
export function authorizeRoutes(core: Core): ServedRoute[] {
  const body = z.unknown()
  return unguarded([
    { method: 'GET', path: PATH, access: undefined, handle: (request) => ask(core, request) },
    {
      method: 'POST',
      path: PATH,
      access: undefined,
      body,
      forms: SMALL_FORM_LIMITS,
      handle: (request) => decide(core, request),
    },
  ])
}

/** What goes from the request into the form, and comes back with the decision. */
const carried = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const
type Carried = Readonly<Partial<Record<(typeof carried)[number], string>>>

/** What is wrong with the request itself is said before anyone signs in for it. */
async function ask(core: Core, request: RouteRequest): Promise<Reply> {
  const parameters = carriedIn(request.query)
  const signedIn = await signedInUser(core, request)
  return answer(core, parameters, signedIn?.user, async (authorization) => {
    if (signedIn === undefined) return redirectReply(signInUrl(core, PATH + request.search))
    return consentPage(core, signedIn, parameters, authorization)
  })
}

/** Neither a code nor a refusal is sent anywhere unless the form was ours: another site could not even ask. */
async function decide(core: Core, request: RouteRequest): Promise<Reply> {
  const fields = fieldsOf(request.body)
  const parameters = carriedIn(fields)
  const signedIn = await signedInUser(core, request)
  if (!isOurForm(request, signedIn?.secret, fields.csrf_token) || signedIn === undefined) {
    return errorPage(403, 'The form had expired. Go back to the application and try again.')
  }
  return answer(core, parameters, signedIn.user, async (authorization) => {
    const { redirectUri } = authorization
    if (fields.decision !== 'allow') {
      const error_description = 'The resource owner or authorization server denied the request.'
      return backToApplication(redirectUri, { error: 'access_denied', error_description }, parameters)
    }
    const code = await allowAuthorization(core, signedIn.user.id, authorization)
    return backToApplication(redirectUri, { code }, parameters)
  })
}

async function answer(
  core: Core,
  parameters: Carried,
  user: User | undefined,
  proceed: (authorization: Authorization) => Promise<Reply>,
): Promise<Reply> {
  try {
    const asked = {
      clientId: parameters.client_id,
      redirectUri: parameters.redirect_uri,
      responseType: parameters.response_type,
      scope: parameters.scope,
      codeChallenge: parameters.code_challenge,
      codeChallengeMethod: parameters.code_challenge_method,
    }
    const checked = await checkAuthorization(core, asked, user)
    if (checked.kind === 'consent_needed') return await proceed(checked.authorization)
    const { refusal, redirectUri } = checked
    const error = { error: refusal.code, error_description: descriptionOf(refusal) }
    return backToApplication(redirectUri, error, parameters)
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error
    return errorPage(error.code === 'invalid_client' ? 401 : 400, descriptionOf(error))
  }
}

function backToApplication(redirectUri: string, answer: Record<string, string>, { state }: Carried): Reply {
  const query = new URLSearchParams({ ...answer, ...(state !== undefined && { state }) })
  return redirectReply(`${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`)
}

function consentPage(
  core: Core,
  { user, secret }: { readonly user: User; readonly secret: string },
  parameters: Carried,
  { application, scopes, redirectUri }: Authorization,
): Reply {
  const action = core.settings.externalUrl + PATH
  const fields = Object.entries(parameters).map(([name, value]) => ({ name, value }))
  return pageReply({
    status: 200,
    title: `Authorize ${application.name}?`,
    formTargets: [action, redirectUri],
    body: html`<p>You are signed in as ${user.username}. ${application.name} asks for access to your account:</p>
<ul>
${scopes.map((scope) => html`<li>${scope}</li>\n`)}</ul>
<p>You will be led to ${redirectUri}</p>
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(secret), ...fields])}
<p><button name="decision" value="allow">Authorize</button> <button name="decision" value="deny">Deny</button></p>
</form>`,
  })
}

const errorPage = (status: number, text: string): Reply =>
  pageReply({ status, title: 'Cannot authorize', body: html`<p>${text}</p>` })

/** Empty ones are none; of one that came twice there is none either. */
function carriedIn(source: Readonly<Record<string, unknown>>): Carried {
  const fields = fieldsOf(source)
  return Object.fromEntries(carried.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])))
}
