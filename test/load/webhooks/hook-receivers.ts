import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Shorter than the 10 s that a request of a webhook may take. */
const SLOW_MS = 9_000

/** A server that plays many receivers. Slow and hanging receivers have an address each, so that they share no limit per host. */
export class HookReceivers {
  /** Called with the title of the issue in each request to a healthy receiver. */
  onHealthy: (title: string) => void = () => {}
  readonly #server: Server

  static async start(): Promise<HookReceivers> {
    const server = createServer({ keepAliveTimeout: 600_000 })
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
    return new HookReceivers(server)
  }

  private constructor(server: Server) {
    this.#server = server
    server.on('request', async (request, response) => {
      const chunks = await request.toArray().catch(() => undefined)
      if (chunks === undefined) return
      const kind = request.url!.slice(1)
      if (kind === 'hanging') return
      if (kind === 'slow') await sleep(SLOW_MS)
      else this.onHealthy(JSON.parse(Buffer.concat(chunks).toString()).object_attributes.title)
      response.end('ok')
    })
  }

  /** Returns the URL of the receiver with this number. */
  urlOf(kind: 'healthy' | 'hanging' | 'slow', index: number): string {
    const host = kind === 'healthy' ? '127.0.0.1' : `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`
    return `http://${host}:${(this.#server.address() as AddressInfo).port}/${kind}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
