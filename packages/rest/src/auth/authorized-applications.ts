import {
  type AuthorizedApplication,
  actingUser,
  type Core,
  listAuthorizedApplications,
  perform,
  revokeAuthorizedApplication,
} from '@penstock/core'
import { type Html, html, type RouteRequest, type ServedRoute } from '@penstock/http'
import { isoTime } from '../routing/iso-time.ts'
import { fieldsOf, hiddenFields, localPath } from './form-fields.ts'
import { type Answer, type Page, pageRoutes, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm } from './session-cookie.ts'
import { AUTHORIZED_APPLICATIONS_PATH, type SignedIn, signedInUser, signInUrl } from './sign-in.ts'

/** Returns the routes of the page on which users see and revoke the access of applications to their account. */
export function authorizedApplicationsRoutes(core: Core): ServedRoute[] {
  const path = AUTHORIZED_APPLICATIONS_PATH
  return pageRoutes(core, [
    { method: 'GET', path, handle: (request) => showApplications(core, request) },
    { method: 'POST', path, handle: (request) => handleRevocation(core, request) },
  ])
}

async function showApplications(core: Core, request: RouteRequest): Promise<Answer> {
  const signedIn = await signedInUser(core, request)
  if (signedIn === undefined) return redirectReply(signInUrl(core, AUTHORIZED_APPLICATIONS_PATH))
  return listPage(core, signedIn, 200)
}

/** Revokes the access of the application in the form. The page then shows the applications that are left. */
async function handleRevocation(core: Core, request: RouteRequest): Promise<Answer> {
  const { csrf_token, application, return_to } = fieldsOf(request.body)
  const signedIn = await signedInUser(core, request)
  if (signedIn === undefined) return redirectReply(signInUrl(core, AUTHORIZED_APPLICATIONS_PATH))
  if (!isOurForm(request, signedIn.secret, csrf_token)) {
    return listPage(core, signedIn, 403, 'The form has expired. Please try again.')
  }
  const input = inputOf(application)
  if (input === undefined) return listPage(core, signedIn, 422, 'There is no such application.')
  await perform(core, actingUser(signedIn.user), revokeAuthorizedApplication, input)
  const target = return_to === undefined ? AUTHORIZED_APPLICATIONS_PATH : localPath(return_to)
  return redirectReply(core.settings.externalUrl + target)
}

/** The field of the form for programs without an application. */
const NO_APPLICATION = 'none'

/** Returns the input of the operation for a field of the form, or `undefined` if no form has that. */
function inputOf(field: string | undefined): { applicationId?: number } | undefined {
  if (field === NO_APPLICATION) return {}
  return /^\d{1,9}$/.test(field ?? '') ? { applicationId: Number(field) } : undefined
}

async function listPage(core: Core, signedIn: SignedIn, status: number, problem?: string): Promise<Page> {
  const { externalUrl } = core.settings
  return {
    status,
    title: 'Authorized applications',
    formTargets: [externalUrl + AUTHORIZED_APPLICATIONS_PATH],
    body: html`${problem === undefined ? [] : html`<p role="alert">${problem}</p>`}
<p>You are signed in as ${signedIn.user.username}.</p>
${await applicationList(core, signedIn)}
<p><a href="${externalUrl}/">Back</a></p>`,
  }
}

/**
 * Returns the list of the applications that can access the account, each with a form that revokes its access.
 *
 * @param returnTo the path of the page that holds the list. Default: the page of this file
 */
export async function applicationList(core: Core, { user, secret }: SignedIn, returnTo?: string): Promise<Html> {
  const authorized = await perform(core, actingUser(user), listAuthorizedApplications, {})
  if (authorized.length === 0) return html`<p>No application can access your account.</p>`
  const action = core.settings.externalUrl + AUTHORIZED_APPLICATIONS_PATH
  const common = [csrfFieldFor(secret), ...(returnTo === undefined ? [] : [{ name: 'return_to', value: returnTo }])]
  return html`<p>These applications can access your account until you revoke their access:</p>
<ul class="plain">
${authorized.map((each) => listItem(each, action, common))}</ul>`
}

type Field = Parameters<typeof hiddenFields>[0][number]

function listItem(
  { application, scopes, lastTokenAtMs }: AuthorizedApplication,
  action: string,
  common: readonly Field[],
): Html {
  const name = application?.name ?? 'Programs that you gave your password to'
  const field = { name: 'application', value: application === undefined ? NO_APPLICATION : String(application.id) }
  return html`<li>
<p><strong>${name}</strong>, with ${scopes.join(', ')}; last token of <time>${isoTime(lastTokenAtMs)}</time></p>
<form method="post" action="${action}">
${hiddenFields([...common, field])}
<p><button class="danger" aria-label="Revoke ${name}">Revoke</button></p>
</form>
</li>
`
}
