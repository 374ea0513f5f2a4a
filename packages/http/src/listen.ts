import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Listening {
  readonly host: string
  /** The bound one, also where any free one was asked for. */
  readonly port: number
  /** `http://host:port`, an IPv6 address in brackets. */
  readonly url: string
  /**
   * Takes no more connections, cuts idle ones, and resolves when every request under way has its answer. Those that
   * remain when `giveUp` aborts are cut off.
   */
  close(giveUp?: AbortSignal): Promise<void>
}

const HEADERS_TIMEOUT_MS = 10_000
/** Of a whole request; nothing that is served here is large. */
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than proxies keep their idle connections, so that it is they who close them, and never while they send. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
const MAX_CONNECTIONS = 1_000

/**
 * @param maxConnections further ones are closed as soon as they are accepted
 * @throws the system's error (`code` EADDRINUSE, EACCES …) when the address cannot be had
 */
export async function listen(
  handler: RequestListener,
  address: { readonly host: string; readonly port: number },
  maxConnections = MAX_CONNECTIONS,
): Promise<Listening> {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  })
  server.maxConnections = maxConnections
  const connections = new Set<Socket>()
  const underWay = new Map<Socket, ServerResponse>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    underWay.set(socket, response)
    response.on('close', () => {
      if (underWay.get(socket) === response) underWay.delete(socket)
      if (!server.listening) socket.end()
    })
    if (!server.listening) response.shouldKeepAlive = false
  })
  server.on('request', handler)
  server.on('clientError', (error: BrokenRequest, socket) => {
    if (!socket.writable || underWay.get(socket as Socket)?.headersSent) return void socket.destroy()
    socket.end(`HTTP/1.1 ${brokenRequestStatus(error)}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  })
  server.listen(address.port, address.host)
  await once(server, 'listening')
  const bound = server.address() as AddressInfo
  const closed = new Promise<void>((resolve) => server.once('close', resolve))

  const close = async (giveUp?: AbortSignal): Promise<void> => {
    if (server.listening) server.close()
    const cut = () => server.closeAllConnections()
    if (giveUp?.aborted) cut()
    else giveUp?.addEventListener('abort', cut, { once: true })
    // Node's own notion of idle leaves out connections that never sent a byte, such as a browser opens ahead.
    for (const socket of connections) if (!underWay.has(socket)) socket.destroy()
    for (const response of underWay.values()) if (!response.headersSent) response.shouldKeepAlive = false
    await closed
    giveUp?.removeEventListener('abort', cut)
  }

  return {
    host: bound.address,
    port: bound.port,
    url: `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close,
  }
}

interface BrokenRequest extends NodeJS.ErrnoException {
  /** What has come of it last. */
  readonly rawPacket?: Buffer
}

const brokenRequestStatuses: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/** As Node itself would answer, but for a first line without end, which it takes for headers. */
function brokenRequestStatus({ code = '', rawPacket }: BrokenRequest): string {
  const isFirstLine = code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\r\n]*$/.test(rawPacket?.toString('latin1') ?? '')
  return isFirstLine ? '414 URI Too Long' : (brokenRequestStatuses[code] ?? '400 Bad Request')
}
