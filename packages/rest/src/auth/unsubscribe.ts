import { type Core, DomainError, perform, UNSUBSCRIBE_PATH, unsubscribeByLink, unsubscribeKinds } from '@penstock/core'
import { html, type RouteRequest, type ServedRoute } from '@penstock/http'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { type Answer, pageRoutes, tooOftenPage } from './page.ts'

/**
 * Returns the routes of the page that ends a subscription. It needs no sign-in, and only its button changes anything, because
 * programs that check the links of mails open them. Mail programs with a button for it send the form themselves (RFC 8058), with
 * the parameters in the query.
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
  const what =
    given.kind === 'project'
      ? 'You will get no further mails about this project, unless you change your notification settings.'
      : 'You will get no further mails about it, unless you subscribe to it again.'
  const action = settings.externalUrl + UNSUBSCRIBE_PATH
  return {
    status: 200,
    title: TITLE,
    formTargets: [action],
    body: html`<p>${what}</p>
<form method="post" action="${action}">
${hiddenFields(names.map((name) => ({ name, value: given[name] ?? '' })))}<p><button class="primary">Unsubscribe</button></p>
</form>`,
  }
}

async function unsubscribe(core: Core, { body, query, source }: RouteRequest): Promise<Answer> {
  const { kind: name, item, user, signature = '' } = { ...fieldsOf(query), ...fieldsOf(body) }
  try {
    const kind = unsubscribeKinds.find((each) => each === name)
    if (kind === undefined) return invalidLink
    const link = { kind, itemId: idIn(item), userId: idIn(user), signature }
    await perform(core, undefined, unsubscribeByLink, link, { request: { address: source } })
    return { status: 200, title: TITLE, body: html`<p role="status">You have unsubscribed.</p>` }
  } catch (error) {
    if (error instanceof DomainError && ['refused', 'parameters'].includes(error.failure.code)) return invalidLink
    return tooOftenPage(TITLE, error)
  }
}

const idIn = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0)

const invalidLink: Answer = { status: 422, title: TITLE, body: html`<p role="alert">The link is invalid.</p>` }
