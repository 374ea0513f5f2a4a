import { createServer, type RequestListener, type Server } from 'node:http'
import type { ForwardAuth } from './forward-auth.ts'

/** Longer than proxies keep their idle connections, so that it is they who close them. */
const KEEP_ALIVE_MS = 75_000

/** For a socket of its own, or in front of the management listener's other paths. */
export function forwardAuthListener(forwardAuth: ForwardAuth): RequestListener {
  return (request, response) => {
    const { status, headers, body } = forwardAuth({
      url: request.url ?? '',
      rawHeaders: request.rawHeaders,
      source: plainAddress(request.socket.remoteAddress),
    })
    response.writeHead(status, { ...headers, 'content-length': body?.length ?? 0 })
    response.end(body)
  }
}

/** Not yet listening. */
export function forwardAuthServer(forwardAuth: ForwardAuth): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, forwardAuthListener(forwardAuth))
}

const MAPPED = '::ffff:'

/** A listener on `::` sees IPv4 peers in the dress of IPv6. */
function plainAddress(address: string | undefined): string {
  if (address === undefined) return ''
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address
}
