import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request of a program, as the proxy saw it. */
export interface ForwardedCall {
  readonly method: string
  /** The path with its query. */
  readonly target: string
  readonly status: number
  /** The first part of the response's body if it is an error. */
  readonly error: string
}

/**
 * A forward proxy that sends the requests for any host to one server. Programs then use a host name without a port, which
 * some of them require, and the requests they make are known.
 */
export class ForwardProxy {
  readonly calls: ForwardedCall[] = []
  readonly #server: Server

  /** @param target the server that answers, as `http://host:port` */
  static async start(target: string): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  private constructor(target: string) {
    this.#server = createServer((incoming, response) => forward(target, incoming, response, this.calls))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

function forward(target: string, incoming: IncomingMessage, response: ServerResponse, calls: ForwardedCall[]): void {
  const { pathname, search, host } = new URL(incoming.url ?? '/', 'http://unknown')
  const { method = 'GET' } = incoming
  const { 'proxy-connection': _, ...headers } = incoming.headers
  const upstream = httpRequest(new URL(pathname + search, target), { method, headers: { ...headers, host } })
  upstream.on('response', (reply) => {
    const { statusCode: status = 502 } = reply
    let error = ''
    reply.on('data', (part: Buffer) => {
      if (status >= 400 && error.length < 500) error += part.toString()
    })
    reply.on('end', () => calls.push({ method, target: pathname + search, status, error }))
    response.writeHead(status, reply.headers)
    reply.pipe(response)
  })
  upstream.on('error', () => response.writeHead(502).end())
  incoming.pipe(upstream)
}
