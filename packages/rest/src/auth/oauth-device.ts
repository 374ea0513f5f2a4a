import { type Core, type DeviceConsent, DomainError, decideDeviceConsent, findDeviceConsent } from '@penstock/core'
import { html, type RouteRequest, type ServedRoute } from '@penstock/http'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { type Answer, type Page, pageRoutes, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm } from './session-cookie.ts'
import { type SignedIn, signedInUser, signInUrl } from './sign-in.ts'

export const DEVICE_PATH = '/oauth/device'

/** Returns the routes of the page on which a user enters the code that a device shows. @see RFC 8628, section 3.3 */
export function deviceRoutes(core: Core): ServedRoute[] {
  return pageRoutes(core, [
    { method: 'GET', path: DEVICE_PATH, handle: (request) => showCodeForm(core, request) },
    { method: 'POST', path: DEVICE_PATH, handle: (request) => handleForm(core, request) },
  ])
}

/**
 * Shows the form. A code in the URL is only filled in. The user must compare it with the code on the device, and
 * confirm it.
 */
async function showCodeForm(core: Core, request: RouteRequest): Promise<Answer> {
  const signedIn = await signedInUser(core, request)
  if (signedIn === undefined) return redirectReply(signInUrl(core, DEVICE_PATH + request.search))
  return codePage(core, signedIn, { status: 200, userCode: fieldsOf(request.query).user_code ?? '' })
}

async function handleForm(core: Core, request: RouteRequest): Promise<Answer> {
  const { csrf_token, user_code: userCode = '', decision } = fieldsOf(request.body)
  const signedIn = await signedInUser(core, request)
  if (!isOurForm(request, signedIn?.secret, csrf_token) || signedIn === undefined) {
    return messagePage(403, 'The form has expired. Enter the code again.')
  }
  const visitor = { ...signedIn, address: request.source }
  const unknown = () =>
    codePage(core, signedIn, { status: 422, userCode: '', problem: 'No device is waiting with this code.' })
  try {
    if (decision === undefined) {
      const consent = await findDeviceConsent(core, visitor, userCode)
      return consent === undefined ? unknown() : consentPage(core, signedIn, consent)
    }
    const isAllowed = decision === 'allow'
    const isDone = await decideDeviceConsent(core, visitor, userCode, isAllowed ? 'allowed' : 'denied')
    if (!isDone) return unknown()
    return messagePage(200, isAllowed ? 'The device may now access your account.' : 'The device gets no access.')
  } catch (error) {
    if (!(error instanceof DomainError && error.failure.code === 'too_often')) throw error
    const headers = { 'Retry-After': String(error.failure.retryAfterSeconds) }
    return messagePage(429, 'Too many codes. Try again later.', headers)
  }
}

interface CodeForm {
  readonly status: number
  readonly userCode: string
  readonly problem?: string
}

function codePage(core: Core, { user, secret }: SignedIn, { status, userCode, problem }: CodeForm): Page {
  const action = core.settings.externalUrl + DEVICE_PATH
  return {
    status,
    title: 'Authorize a device',
    formTargets: [action],
    body: html`${problem === undefined ? [] : html`<p role="alert">${problem}</p>`}
<p>You are signed in as ${user.username}. Enter the code that the device shows, only if you have started the sign-in yourself:</p>
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(secret)])}
<p><label>Code <input name="user_code" value="${userCode}" autocomplete="off" maxlength="64" required autofocus></label></p>
<p><button class="primary">Continue</button></p>
</form>`,
  }
}

function consentPage(core: Core, { secret }: SignedIn, { userCode, application, scopes }: DeviceConsent): Page {
  const action = core.settings.externalUrl + DEVICE_PATH
  return {
    status: 200,
    title: `Authorize ${application.name}?`,
    formTargets: [action],
    body: html`<p>The device with the code ${userCode} asks for access to your account, as ${application.name}:</p>
<ul>
${scopes.map((scope) => html`<li>${scope}</li>\n`)}</ul>
<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(secret), { name: 'user_code', value: userCode }])}
<p><button class="primary" name="decision" value="allow">Authorize</button> <button class="other" name="decision" value="deny">Deny</button></p>
</form>`,
  }
}

const messagePage = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Page => ({
  status,
  title: 'Authorize a device',
  headers,
  body: html`<p>${text}</p>`,
})
