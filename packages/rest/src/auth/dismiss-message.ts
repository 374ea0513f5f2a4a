import { type Core, listDismissableBroadcastMessages, perform } from '@penstock/core'
import { html, type RouteRequest, type ServedRoute, sessionSecretIn } from '@penstock/http'
import { dismissedIdsIn, setDismissed } from './dismissed-cookie.ts'
import { fieldsOf, localPath } from './form-fields.ts'
import { type Answer, pageRoutes, redirectReply } from './page.ts'
import { isOurForm } from './session-cookie.ts'
import { DISMISS_PATH } from './shown-messages.ts'

/** Returns the route of the form that dismisses a broadcast message in a browser. */
export const dismissRoutes = (core: Core): ServedRoute[] =>
  pageRoutes(core, [{ method: 'POST', path: DISMISS_PATH, handle: (request) => dismiss(core, request) }])

/** Remembers the message in a cookie, together with the dismissed messages that are still active. */
async function dismiss(core: Core, request: RouteRequest): Promise<Answer> {
  const { clock, settings } = core
  const { headers } = request.raw
  const { csrf_token, id, return_to } = fieldsOf(request.body)
  if (!isOurForm(request, sessionSecretIn(headers, settings.serviceName), csrf_token)) {
    return { status: 403, title: 'Not dismissed', body: html`<p>The form has expired.</p>` }
  }
  const ids = new Set([...dismissedIdsIn(headers, settings.serviceName), Number(id)])
  const dismissable = await perform(core, undefined, listDismissableBroadcastMessages, {})
  const dismissed = dismissable.filter((message) => ids.has(message.id))
  return redirectReply(
    settings.externalUrl + localPath(return_to),
    dismissed.length === 0 ? {} : setDismissed(dismissed, clock.nowMs(), settings),
  )
}
