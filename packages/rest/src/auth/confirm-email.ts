import { CONFIRM_EMAIL_PATH, type Core, confirmEmail, DomainError, perform } from '@penstock/core'
import { html, type RouteRequest, type ServedRoute } from '@penstock/http'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { type Answer, pageRoutes, tooOftenPage } from './page.ts'

/**
 * Returns the routes of the page that the link in a confirmation mail opens. It needs no sign-in. Programs that open the
 * links of mails do not confirm the address, because the page has a button for that.
 */
export const confirmEmailRoutes = (core: Core): ServedRoute[] =>
  pageRoutes(core, [
    { method: 'GET', path: CONFIRM_EMAIL_PATH, handle: async (request) => showButton(core, request) },
    { method: 'POST', path: CONFIRM_EMAIL_PATH, handle: (request) => confirm(core, request) },
  ])

const TITLE = 'Confirm your e-mail address'

function showButton({ settings }: Core, { query }: RouteRequest): Answer {
  const { id = '', signature = '' } = fieldsOf(query)
  const action = settings.externalUrl + CONFIRM_EMAIL_PATH
  const fields = [
    { name: 'id', value: id },
    { name: 'signature', value: signature },
  ]
  return {
    status: 200,
    title: TITLE,
    formTargets: [action],
    body: html`<p>This address was added to an account here. Confirm it if you have added it.</p>
<form method="post" action="${action}">
${hiddenFields(fields)}<p><button class="primary">Confirm the address</button></p>
</form>`,
  }
}

async function confirm(core: Core, { body, source }: RouteRequest): Promise<Answer> {
  const { id = '', signature = '' } = fieldsOf(body)
  const emailId = /^\d{1,9}$/.test(id) ? Number(id) : 0
  try {
    const request = { address: source }
    const { email } = await perform(core, undefined, confirmEmail, { emailId, signature }, { request })
    return { status: 200, title: TITLE, body: html`<p role="status">The address ${email} is confirmed.</p>` }
  } catch (error) {
    const reason = error instanceof DomainError ? problems[error.failure.code] : undefined
    if (reason === undefined) return tooOftenPage(TITLE, error)
    return { status: 422, title: TITLE, body: html`<p role="alert">${reason}</p>` }
  }
}

const expired = 'The link is invalid or has expired. To get another one, remove the address and add it again.'
const problems: Readonly<Partial<Record<DomainError['failure']['code'], string>>> = {
  parameters: expired,
  refused: expired,
  invalid: 'Another account has confirmed this address.',
}
