import {
  actingUser,
  type Core,
  createOwnPersonalToken,
  DomainError,
  type IssuedAccessToken,
  perform,
  revokePersonalToken,
} from '@penstock/core'
import { html, type RouteRequest, type ServedRoute } from '@penstock/http'
import { fullMessages } from '../routing/field-error-text.ts'
import { activeMessages, tokenForm, tokenList, wantedScopes } from './account-sections.ts'
import { applicationList } from './authorized-applications.ts'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { type Answer, type Page, pageRoutes, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm } from './session-cookie.ts'
import { ACCOUNT_PATH, AUTHORIZED_APPLICATIONS_PATH, type SignedIn, signedInUser, signInUrl } from './sign-in.ts'

const CREATE_PATH = `${ACCOUNT_PATH}/personal_access_tokens`
const REVOKE_PATH = `${CREATE_PATH}/revoke`

/** Returns the routes of the page on which users manage their personal access tokens, applications and messages. */
export function accountRoutes(core: Core): ServedRoute[] {
  return pageRoutes(core, [
    { method: 'GET', path: ACCOUNT_PATH, handle: (request) => showAccount(core, request) },
    { method: 'POST', path: CREATE_PATH, handle: (request) => handleForm(core, request, createToken) },
    { method: 'POST', path: REVOKE_PATH, handle: (request) => handleForm(core, request, revokeToken) },
  ])
}

async function showAccount(core: Core, request: RouteRequest): Promise<Answer> {
  const signedIn = await signedInUser(core, request)
  if (signedIn === undefined) return redirectReply(signInUrl(core, ACCOUNT_PATH))
  return accountPage(core, request, signedIn, { status: 200 })
}

type Fields = ReturnType<typeof fieldsOf>

/** Runs the action of a form, if the form is ours. A failure that the user can correct is shown on the page. */
async function handleForm(
  core: Core,
  request: RouteRequest,
  act: (core: Core, signedIn: SignedIn, fields: Fields) => Promise<Outcome | undefined>,
): Promise<Answer> {
  const fields = fieldsOf(request.body)
  const signedIn = await signedInUser(core, request)
  if (signedIn === undefined) return redirectReply(signInUrl(core, ACCOUNT_PATH))
  if (!isOurForm(request, signedIn.secret, fields.csrf_token)) {
    return accountPage(core, request, signedIn, { status: 403, problem: 'The form has expired. Please try again.' })
  }
  try {
    const outcome = await act(core, signedIn, fields)
    if (outcome === undefined) return redirectReply(core.settings.externalUrl + ACCOUNT_PATH)
    return await accountPage(core, request, signedIn, outcome)
  } catch (error) {
    const problem = problemOf(error)
    return accountPage(core, request, signedIn, { status: 422, problem, fields })
  }
}

interface Outcome {
  readonly status: number
  readonly problem?: string
  /** The fields of a form that has to be corrected. */
  readonly fields?: Fields
  readonly created?: IssuedAccessToken
}

/** The value is only on the page that answers the form: it is stored nowhere. */
async function createToken(core: Core, { user }: SignedIn, fields: Fields): Promise<Outcome> {
  const { name = '', description = '', expires_at = '' } = fields
  const input = { name, description, expiresAt: expires_at, scopes: wantedScopes(fields) }
  return {
    status: 200,
    created: await perform(core, { ...actingUser(user), isSession: true }, createOwnPersonalToken, input),
  }
}

async function revokeToken(core: Core, { user }: SignedIn, { token }: Fields): Promise<undefined> {
  const id = /^\d{1,9}$/.test(token ?? '') ? Number(token) : 0
  await perform(core, actingUser(user), revokePersonalToken, { id })
}

const parameterNames: Readonly<Record<string, string>> = {
  name: 'Enter a name of at most 255 characters.',
  description: 'The description may have at most 255 characters.',
  scopes: 'Choose at least one scope.',
  expiresAt: 'Enter the expiry as a date, such as 2026-12-31.',
}

/** Returns the text for a failure that the user can correct, and throws every other error. */
function problemOf(error: unknown): string {
  if (!(error instanceof DomainError)) throw error
  const { failure } = error
  switch (failure.code) {
    case 'parameters':
      return parameterNames[String(failure.problems[0]?.path[0])] ?? 'The form cannot be read.'
    case 'invalid':
      return `${fullMessages(failure.fields).replace('ExpiresAt', 'Expiry')}.`
    case 'forbidden':
      return `${failure.reason ?? 'You may not do this'}.`
    case 'unauthenticated':
    case 'not_found':
      return 'There is no such token.'
    default:
      throw error
  }
}

async function accountPage(
  core: Core,
  request: RouteRequest,
  signedIn: SignedIn,
  { status, problem, fields = {}, created }: Outcome,
): Promise<Page> {
  const { externalUrl } = core.settings
  const csrf = hiddenFields([csrfFieldFor(signedIn.secret)])
  const [create, revoke] = [externalUrl + CREATE_PATH, externalUrl + REVOKE_PATH]
  return {
    status,
    title: 'Your account',
    isWide: true,
    formTargets: [create, externalUrl + AUTHORIZED_APPLICATIONS_PATH],
    body: html`${problem === undefined ? [] : html`<p role="alert">${problem}</p>`}
<p>You are signed in as ${signedIn.user.username}. <a href="${externalUrl}/">Start page</a></p>
${created === undefined ? [] : createdToken(created)}
<h2 id="tokens">Personal access tokens</h2>
${await tokenList(core, signedIn, { action: revoke, csrf, page: request.query.page })}
<h2>Create a token</h2>
${tokenForm(signedIn.user, { action: create, csrf, fields, today: core.clock.nowMs() })}
<h2>Authorized applications</h2>
${await applicationList(core, signedIn, ACCOUNT_PATH)}
<h2>Active messages</h2>
${await activeMessages(core, request.path)}`,
  }
}

const createdToken = ({ name, value }: IssuedAccessToken) => html`<div class="notice" role="status">
<p><label>New personal access token <input value="${value}" readonly autocomplete="off"></label></p>
<p>Copy the token ${name} now: it is not shown again.</p>
</div>
`
