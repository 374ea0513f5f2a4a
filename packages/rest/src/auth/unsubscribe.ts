import { type Core, DomainError, perform, UNSUBSCRIBE_PATH, unsubscribeByLink } from '@penstock/core'
import { html, type RouteRequest, type ServedRoute } from '@penstock/http'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { type Answer, pageRoutes } from './page.ts'

/**
 * Returns the routes of the page that ends the subscription to an issue or merge request. It needs no sign-in. Mail programs
 * with a button for it send the form themselves (RFC 8058), with the parameters in the query.
 */
export const unsubscribeRoutes = (core: Core): ServedRoute[] =>
  pageRoutes(core, [
    { method: 'GET', path: UNSUBSCRIBE_PATH, handle: async (request) => showButton(core, request) },
    { method: 'POST', path: UNSUBSCRIBE_PATH, handle: (request) => unsubscribe(core, request) },
  ])

const TITLE = 'Unsubscribe'
const names = ['kind', 'item', 'user', 'signature'] as const

function showButton({ settings }: Core, { query }: RouteRequest): Answer {
  const given = fieldsOf(query)
  const action = settings.externalUrl + UNSUBSCRIBE_PATH
  return {
    status: 200,
    title: TITLE,
    formTargets: [action],
    body: html`<p>You will get no further mails about it, unless you subscribe to it again.</p>
<form method="post" action="${action}">
${hiddenFields(names.map((name) => ({ name, value: given[name] ?? '' })))}<p><button class="primary">Unsubscribe</button></p>
</form>`,
  }
}

async function unsubscribe(core: Core, { body, query }: RouteRequest): Promise<Answer> {
  const { kind, item, user, signature = '' } = { ...fieldsOf(query), ...fieldsOf(body) }
  try {
    if (kind !== 'issue' && kind !== 'merge_request') return invalidLink
    const link = { kind, itemId: idIn(item), userId: idIn(user), signature } as const
    await perform(core, undefined, unsubscribeByLink, link)
    return { status: 200, title: TITLE, body: html`<p role="status">You have unsubscribed.</p>` }
  } catch (error) {
    if (error instanceof DomainError && ['refused', 'parameters'].includes(error.failure.code)) return invalidLink
    throw error
  }
}

const idIn = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0)

const invalidLink: Answer = { status: 422, title: TITLE, body: html`<p role="alert">The link is invalid.</p>` }
