import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy between clients and a server, which can stop forwarding or be away. */
export class Relay {
  readonly #server = createServer()
  readonly #sockets = new Set<Socket>()
  #url = new URL('postgresql://127.0.0.1')

  static async to(location: string): Promise<Relay> {
    const relay = new Relay()
    const url = new URL(location)
    const host = url.searchParams.get('host')
    const target =
      host === null
        ? { host: url.hostname, port: Number(url.port || 5_432) }
        : { path: `${host}/.s.PGSQL.${url.port || 5_432}` }
    relay.#server.on('connection', (near) => {
      const far = connect(target)
      near.pipe(far)
      far.pipe(near)
      for (const socket of [near, far]) relay.#sockets.add(socket.on('error', () => {}))
    })
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening')
    const { port } = relay.#server.address() as { port: number }
    url.searchParams.set('host', '127.0.0.1')
    url.searchParams.set('port', String(port))
    relay.#url = url
    return relay
  }

  get url(): string {
    return this.#url.href
  }

  stopForwarding(): void {
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  /** Closes all connections and refuses new ones, as a server that is stopped. */
  async refuseConnections(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.closeConnections()
    await closed
  }

  /** Accepts connections again after `refuseConnections`. */
  async acceptConnections(): Promise<void> {
    await once(this.#server.listen(Number(this.#url.searchParams.get('port')), '127.0.0.1'), 'listening')
  }

  /** Closes all connections, which the server notices. */
  closeConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  close(): void {
    this.closeConnections()
    this.#server.close()
  }
}
