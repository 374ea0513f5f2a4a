import { type Core, DomainError, findSession, newVisitorSecret, signIn, signOut, type User } from '@penstock/core'
import {
  type Html,
  html,
  type Incoming,
  type Reply,
  type RouteRequest,
  type ServedRoute,
  sessionSecretIn,
  unguarded,
} from '@penstock/http'
import { z } from 'zod'
import { pageReply, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm, SMALL_FORM_LIMITS, setSessionCookie } from './session-cookie.ts'

const SIGN_IN_PATH = '/users/sign_in'
const START_PATH = '/'
const SIGN_OUT_PATH = '/users/sign_out'

/**
 * A page to sign in on, one that says who has, and what their forms do. Outside `/api/v4`; `/users/sign_out` takes a form or
 * a script of ours.
 *
 * @param explorerPath of a page of another API, which the one after signing in leads to
 */
export function signInRoutes(core: Core, explorerPath?: string): ServedRoute[] {
  const body = z.unknown()
  return unguarded([
    { method: 'GET', path: START_PATH, access: undefined, handle: (request) => showStart(core, request, explorerPath) },
    { method: 'GET', path: SIGN_IN_PATH, access: undefined, handle: (request) => showForm(core, request) },
    {
      method: 'POST',
      path: SIGN_IN_PATH,
      access: undefined,
      body,
      forms: SMALL_FORM_LIMITS,
      handle: (request) => begin(core, request),
    },
    {
      method: 'POST',
      path: SIGN_OUT_PATH,
      access: undefined,
      body,
      forms: SMALL_FORM_LIMITS,
      handle: (request) => end(core, request),
    },
  ])
}

/** Who is signed in in this browser; to look prolongs the session. */
export async function signedInUser(core: Core, request: Incoming): Promise<{ user: User; secret: string } | undefined> {
  const secret = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  const session = secret === undefined ? undefined : await findSession(core, secret)
  return secret !== undefined && session?.user !== undefined ? { secret, user: session.user } : undefined
}

/** The page to sign in on, which leads back to `returnTo`, a path of ours with its query. */
export const signInUrl = (core: Core, returnTo: string): string =>
  `${core.settings.externalUrl}${SIGN_IN_PATH}?${new URLSearchParams({ return_to: returnTo })}`

/** Where signing in leads if nothing else was asked for, and where one can sign out. */
async function showStart(core: Core, request: RouteRequest, explorerPath: string | undefined): Promise<Reply> {
  const signedIn = await signedInUser(core, request)
  const { externalUrl } = core.settings
  if (signedIn === undefined) return redirectReply(externalUrl + SIGN_IN_PATH)
  const action = externalUrl + SIGN_OUT_PATH
  const explorer =
    explorerPath === undefined ? [] : html`, and <a href="${externalUrl}${explorerPath}">an explorer of its GraphQL</a>`
  return pageReply({
    status: 200,
    title: 'Signed in',
    formTargets: [action],
    body: html`<p>You are signed in as ${signedIn.user.username}. This service has an API and hardly any pages:
<a href="${externalUrl}/api/v4/openapi.json">the description of its REST API</a>${explorer}.</p>
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(signedIn.secret)])}
<p><button>Sign out</button></p>
</form>`,
  })
}

async function showForm(core: Core, request: RouteRequest): Promise<Reply> {
  const returnTo = localPath(request.query.return_to)
  if ((await signedInUser(core, request)) !== undefined) return redirectReply(core.settings.externalUrl + returnTo)
  return formPage(core, request, { status: 200, returnTo })
}

async function begin(core: Core, request: RouteRequest): Promise<Reply> {
  const { csrf_token, login, password, return_to } = fieldsOf(request.body)
  const returnTo = localPath(return_to)
  const secret = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  if (!isOurForm(request, secret, csrf_token)) {
    return formPage(core, request, { status: 403, returnTo, problem: 'The form had expired. Please try again.' })
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
        return formPage(core, request, { status: 403, returnTo, problem: 'Your account is not active.' })
      case 'wrong_login_or_password':
        return formPage(core, request, { status: 422, returnTo, problem: 'Invalid login or password.' })
    }
  } catch (error) {
    if (!(error instanceof DomainError && error.failure.code === 'too_often')) throw error
    const headers = { 'Retry-After': String(error.failure.retryAfterSeconds) }
    return formPage(core, request, { status: 429, returnTo, problem: 'Too many attempts. Try again later.', headers })
  }
}

async function end(core: Core, request: RouteRequest): Promise<Reply> {
  const secret = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  if (secret !== undefined && !isOurForm(request, secret, fieldsOf(request.body).csrf_token)) {
    return pageReply({ status: 403, title: 'Not signed out', body: html`<p>The form had expired.</p>` })
  }
  if (secret !== undefined) await signOut(core, secret)
  return redirectReply(core.settings.externalUrl + SIGN_IN_PATH, setSessionCookie(undefined, core.settings))
}

interface FormState {
  readonly status: number
  readonly returnTo: string
  readonly problem?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A visitor's cookie makes the form theirs: without it, anyone could have them sign in as somebody else. */
function formPage(core: Core, request: Incoming, { status, returnTo, problem, headers }: FormState): Reply {
  const known = sessionSecretIn(request.raw.headers, core.settings.serviceName)
  const secret = known ?? newVisitorSecret(core)
  const action = core.settings.externalUrl + SIGN_IN_PATH
  return pageReply({
    status,
    title: 'Sign in',
    formTargets: [action],
    headers: { ...(known === undefined && setSessionCookie(secret, core.settings)), ...headers },
    body: html`${problem === undefined ? [] : html`<p role="alert">${problem}</p>`}
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(secret), { name: 'return_to', value: returnTo }])}
<p><label>Username or e-mail <input name="login" autocomplete="username" maxlength="255" required autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in</button></p>
</form>`,
  })
}

export const hiddenFields = (fields: readonly { readonly name: string; readonly value: string }[]): Html[] =>
  fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">\n`)

/** The fields that came once, as text that both databases can look for; others are as if they had not come. */
export function fieldsOf(body: unknown): Readonly<Partial<Record<string, string>>> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const sound = Object.entries(isObject ? body : {}).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && entry[1].isWellFormed() && !entry[1].includes('\0'),
  )
  return Object.fromEntries(sound)
}

/** Put behind our own URL it cannot lead anywhere else; what does not begin as a path could make the host another. */
function localPath(returnTo: unknown): string {
  // As it stands in a URL and in a header: printable ASCII, everything else encoded.
  return typeof returnTo === 'string' && /^\/[\x21-\x7e]*$/.test(returnTo) ? returnTo : START_PATH
}
