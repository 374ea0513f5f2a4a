import type { Core } from '@penstock/core'
import { html, type Incoming, type Reply } from '@penstock/http'
import { START_PATH } from './form-fields.ts'
import { replyTo } from './page.ts'

/** Returns the page for a browser at a path that no route has, such as the web address of a pipeline in telemetry. */
export function notFoundPage(core: Core, request: Incoming): Promise<Reply> {
  const { externalUrl } = core.settings
  return replyTo(core, request, {
    status: 404,
    title: 'Nothing at this address',
    body: html`<p>This service has pages for accounts only. Projects, issues and pipelines are served by its API, below <code>/api/v4</code>.</p>
<p><a href="${externalUrl}${START_PATH}">Go to the start page</a></p>`,
  })
}
