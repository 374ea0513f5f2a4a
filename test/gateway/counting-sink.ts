import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { idsIn } from './numbered-body.ts'

/** An upstream that accepts everything and counts the ids in it, also in coalesced bodies. */
export class CountingSink implements AsyncDisposable {
  /** The number of arrivals per id. */
  readonly arrivals = new Map<string, number>()
  readonly headers: Readonly<Record<string, string | string[] | undefined>>[] = []
  requests = 0
  /** The number of requests that broke before their end. */
  aborted = 0
  /** Answers wait for this promise. */
  hold: Promise<unknown> | undefined
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #watchers: { readonly id: string; resolve(): void }[] = []

  static async start(): Promise<CountingSink> {
    const sink = new CountingSink()
    await new Promise<void>((resolve) => sink.#server.listen(0, '127.0.0.1', resolve))
    return sink
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      this.requests += 1
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('error', () => {})
      request.on('close', () => {
        if (!request.complete) this.aborted += 1
      })
      request.on('end', async () => {
        const wire = Buffer.concat(parts)
        this.headers.push(request.headers)
        this.#count(request.headers['content-encoding'] === 'gzip' ? gunzipSync(wire) : wire)
        await this.hold
        response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': '0' })
        response.end()
      })
    })
    this.#server.keepAliveTimeout = 120_000
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get duplicates(): number {
    return [...this.arrivals.values()].reduce((sum, count) => sum + count - 1, 0)
  }

  async arrived(id: string): Promise<void> {
    if (this.arrivals.has(id)) return
    await new Promise<void>((resolve) => this.#watchers.push({ id, resolve }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #count(body: Buffer): void {
    for (const id of idsIn(body)) {
      this.arrivals.set(id, (this.arrivals.get(id) ?? 0) + 1)
      for (const watcher of this.#watchers) if (watcher.id === id) watcher.resolve()
      this.#watchers = this.#watchers.filter((watcher) => watcher.id !== id)
    }
  }
}
