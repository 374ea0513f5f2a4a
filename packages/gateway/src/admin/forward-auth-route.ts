import type { Route } from '@penstock/http'
import type { ForwardAuth } from './forward-auth.ts'

/** Returns the forward-auth route of the management listener. It needs no API key, because it checks the proxy itself. */
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
