import {
  type Core,
  DomainError,
  findSession,
  newVisitorSecret,
  settingOf,
  signIn,
  signOut,
  type User,
} from '@penstock/core'
import { html, type Incoming, type RouteRequest, type ServedRoute, sessionSecretIn } from '@penstock/http'
import { confirmEmailRoutes } from './confirm-email.ts'
import { dismissRoutes } from './dismiss-message.ts'
import { fieldsOf, hiddenFields, localPath, START_PATH } from './form-fields.ts'
import { type Answer, type Page, pageRoutes, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm, setSessionCookie } from './session-cookie.ts'
import { unsubscribeRoutes } from './unsubscribe.ts'

const SIGN_IN_PATH = '/users/sign_in'
const SIGN_OUT_PATH = '/users/sign_out'
export const AUTHORIZED_APPLICATIONS_PATH = '/oauth/authorized_applications'
export const ACCOUNT_PATH = '/-/account'
export const NOTIFICATION_LEVELS_PATH = '/-/account/notifications'
export const ADMIN_SETTINGS_PATH = '/-/admin/settings'

/**
 * Returns the routes of the sign-in page, of the start page, and of the forms of all pages. They are outside `/api/v4`.
 *
 * @param explorerPath the path of the GraphQL explorer, to which the start page links
 */
export function signInRoutes(core: Core, explorerPath?: string): ServedRoute[] {
  return [
    ...pageRoutes(core, [
      { method: 'GET', path: START_PATH, handle: (request) => showStart(core, request, explorerPath) },
      { method: 'GET', path: SIGN_IN_PATH, handle: (request) => showForm(core, request) },
      { method: 'POST', path: SIGN_IN_PATH, handle: (request) => handleSignIn(core, request) },
      { method: 'POST', path: SIGN_OUT_PATH, handle: (request) => handleSignOut(core, request) },
    ]),
    ...dismissRoutes(core),
    ...confirmEmailRoutes(core),
    ...unsubscribeRoutes(core),
  ]
}

export interface SignedIn {
  readonly user: User
  /** The secret of the session. */
  readonly secret: string
  readonly signedInAtMs: number
}

/** Returns the user who is signed in, and the secret of the session. Prolongs the session. */
export async function signedInUser(core: Core, request: Incoming): Promise<SignedIn | undefined> {
  const secret = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  const session = secret === undefined ? undefined : await findSession(core, secret)
  if (secret === undefined || session?.user === undefined) return undefined
  return { secret, user: session.user, signedInAtMs: session.signedInAtMs! }
}

/**
 * Returns the URL of the sign-in page, which redirects to `returnTo`, a path of this service with its query. With
 * `again`, users have to sign in even if they are signed in already.
 */
export function signInUrl(core: Core, returnTo: string, { again = false } = {}): string {
  const query = new URLSearchParams({ return_to: returnTo, ...(again && { again: '1' }) })
  return `${core.settings.externalUrl}${SIGN_IN_PATH}?${query}`
}

/** Shows the start page, which has the form to sign out. It is the default target after signing in. */
async function showStart(core: Core, request: RouteRequest, explorerPath: string | undefined): Promise<Answer> {
  const signedIn = await signedInUser(core, request)
  const { externalUrl } = core.settings
  if (signedIn === undefined) {
    return redirectReply((await settingOf(core, 'home_page_url')) ?? externalUrl + SIGN_IN_PATH)
  }
  const action = externalUrl + SIGN_OUT_PATH
  const afterSignOut = await settingOf(core, 'after_sign_out_path')
  const explorer =
    explorerPath === undefined ? [] : html` and <a href="${externalUrl}${explorerPath}">the GraphQL explorer</a>`
  return {
    status: 200,
    title: 'Signed in',
    // Browsers apply the policy for forms also to the redirect that answers one.
    formTargets: [action, ...(afterSignOut === undefined ? [] : [afterSignOut])],
    body: html`<p>You are signed in as ${signedIn.user.username}. This service is used through its API: see
<a href="${externalUrl}/api/v4/openapi.json">the OpenAPI description of the REST API</a>${explorer}.</p>
<ul>
<li><a href="${externalUrl}${ACCOUNT_PATH}">Your account: personal access tokens, applications and messages</a></li>
<li><a href="${externalUrl}${NOTIFICATION_LEVELS_PATH}">Notifications: levels for everything, groups and projects</a></li>
<li><a href="${externalUrl}${AUTHORIZED_APPLICATIONS_PATH}">Applications that can access your account</a></li>
${signedIn.user.isAdministrator ? html`<li><a href="${externalUrl}${ADMIN_SETTINGS_PATH}">Application settings of the service</a></li>\n` : []}</ul>
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(signedIn.secret)])}
<p><button>Sign out</button></p>
</form>`,
  }
}

async function showForm(core: Core, request: RouteRequest): Promise<Answer> {
  const returnTo = localPath(request.query.return_to)
  const signedIn = request.query.again === undefined ? await signedInUser(core, request) : undefined
  if (signedIn !== undefined) return redirectReply(core.settings.externalUrl + returnTo)
  return formPage(core, request, { status: 200, returnTo })
}

async function handleSignIn(core: Core, request: RouteRequest): Promise<Answer> {
  const { csrf_token, login, password, return_to } = fieldsOf(request.body)
  const returnTo = localPath(return_to)
  const secret = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  if (!isOurForm(request, secret, csrf_token)) {
    return formPage(core, request, { status: 403, returnTo, problem: 'The form has expired. Please try again.' })
  }
  try {
    const attempt = { login: login ?? '', password: password ?? '', address: request.source }
    const outcome = await signIn(core, attempt, secret)
    switch (outcome.kind) {
      case 'signed_in':
        return redirectReply(
          core.settings.externalUrl + returnTo,
          setSessionCookie(outcome.sessionSecret, core.settings),
        )
      case 'not_active':
        return await formPage(core, request, { status: 403, returnTo, problem: 'Your account is not active.' })
      case 'password_disabled':
        return await formPage(core, request, { status: 403, returnTo })
      case 'wrong_login_or_password':
        return await formPage(core, request, { status: 422, returnTo, problem: 'Invalid login or password.' })
    }
  } catch (error) {
    if (!(error instanceof DomainError && error.failure.code === 'too_often')) throw error
    const headers = { 'Retry-After': String(error.failure.retryAfterSeconds) }
    return formPage(core, request, { status: 429, returnTo, problem: 'Too many attempts. Try again later.', headers })
  }
}

async function handleSignOut(core: Core, request: RouteRequest): Promise<Answer> {
  const secret = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  if (secret !== undefined && !isOurForm(request, secret, fieldsOf(request.body).csrf_token)) {
    return { status: 403, title: 'Not signed out', body: html`<p>The form has expired.</p>` }
  }
  if (secret !== undefined) await signOut(core, secret)
  const target = (await settingOf(core, 'after_sign_out_path')) ?? core.settings.externalUrl + SIGN_IN_PATH
  return redirectReply(target, setSessionCookie(undefined, core.settings))
}

interface FormState {
  readonly status: number
  readonly returnTo: string
  readonly problem?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Returns the sign-in page. It sets a cookie for new visitors, to which the form's CSRF token is bound. Otherwise, another
 * site could make a browser sign in as a different user.
 */
async function formPage(
  core: Core,
  request: Incoming,
  { status, returnTo, problem, headers }: FormState,
): Promise<Page> {
  if (!(await settingOf(core, 'password_authentication_enabled_for_web'))) {
    const body = html`<p role="alert">Signing in with a password is disabled.</p>`
    return { status, title: 'Sign in', body }
  }
  const known = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  const secret = known ?? newVisitorSecret(core)
  const action = core.settings.externalUrl + SIGN_IN_PATH
  return {
    status,
    title: 'Sign in',
    formTargets: [action],
    secret,
    headers: { ...(known === undefined && setSessionCookie(secret, core.settings)), ...headers },
    body: html`${problem === undefined ? [] : html`<p role="alert">${problem}</p>`}
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(secret), { name: 'return_to', value: returnTo }])}
<p><label>Username or e-mail <input name="login" autocomplete="username" maxlength="255" required autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button class="primary">Sign in</button></p>
</form>`,
  }
}
