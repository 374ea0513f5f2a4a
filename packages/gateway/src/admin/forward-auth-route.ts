import type { Route } from '@penstock/http'
import { unmapIpv4 } from '@penstock/runtime'
import type { ForwardAuth } from './forward-auth.ts'

/** Returns the forward-auth route of the management listener. It needs no API key, because it checks the proxy itself. */
export function forwardAuthRoute(forwardAuth: ForwardAuth): Route<undefined, unknown> {
  return {
    method: '*',
    path: '/forward-auth{/*original}',
    access: undefined,
    handle({ raw }) {
      // The sender of the check is the proxy itself, also if it is trusted to name the client in X-Forwarded-For.
      const source = unmapIpv4(raw.socket.remoteAddress ?? '')
      const { status, headers, body } = forwardAuth({ url: raw.url ?? '', rawHeaders: raw.rawHeaders, source })
      const { 'content-type': contentType, ...others } = headers
      if (body === undefined || contentType === undefined) return { status, headers: others }
      return { status, headers: others, content: body, contentType }
    },
  }
}
