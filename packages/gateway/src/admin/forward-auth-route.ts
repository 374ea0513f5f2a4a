import type { Route } from '@penstock/http'
import type { ForwardAuth } from './forward-auth.ts'

/** The endpoint among the other paths of the management listener; it lets proxies in by itself. */
export function forwardAuthRoute(forwardAuth: ForwardAuth): Route<undefined, unknown> {
  return {
    method: '*',
    path: '/forward-auth{/*original}',
    access: undefined,
    handle({ raw, source }) {
      const { status, headers, body } = forwardAuth({ url: raw.url ?? '', rawHeaders: raw.rawHeaders, source })
      const { 'content-type': contentType, ...others } = headers
      if (body === undefined || contentType === undefined) return { status, headers: others }
      return { status, headers: others, content: body, contentType }
    },
  }
}
