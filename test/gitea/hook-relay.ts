import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A hook as the forge has sent it, and the status of the reply. */
export interface RelayedHook {
  /** The last part of the path: the source that the hook is for. */
  readonly source: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly status: number
}

/** A hook before it is passed on. */
export type ArrivingHook = Pick<RelayedHook, 'source' | 'headers' | 'body'>

const DEADLINE_MS = 120_000

/** Passes hooks on without a change, and keeps them. */
export class HookRelay implements AsyncDisposable {
  readonly hooks: RelayedHook[] = []
  /** The URL that hooks are passed on to, without the source. */
  target = ''
  /** Called before a hook is passed on, which waits for it. */
  beforeHook: (hook: ArrivingHook) => Promise<void> = async () => {}
  readonly #server: Server
  readonly #watchers = new Set<() => void>()
  /** Hooks are passed on one after another, so that a kill between two of them hits neither. */
  #passed: Promise<number> = Promise.resolve(0)

  static async start(): Promise<HookRelay> {
    const relay = new HookRelay()
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve))
    return relay
  }

  private constructor() {
    // A hook that meets a connection while it closes is lost, because Gitea sends no hook twice.
    this.#server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      const hook = { source: request.url?.slice(1) ?? '', headers: request.headers, body }
      const earlier = this.#passed
      this.#passed = earlier.then(() => this.#pass(hook))
      const status = await this.#passed
      response.writeHead(status).end()
      for (const watcher of this.#watchers) watcher()
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves when the hooks so far satisfy a condition. */
  async until(isReached: (hooks: readonly RelayedHook[]) => boolean): Promise<void> {
    if (isReached(this.hooks)) return
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the hooks did not arrive in time')), DEADLINE_MS)
      const watcher = () => {
        if (!isReached(this.hooks)) return
        clearTimeout(timer)
        this.#watchers.delete(watcher)
        resolve()
      }
      this.#watchers.add(watcher)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #pass(hook: ArrivingHook): Promise<number> {
    await this.beforeHook(hook)
    const status = await this.#send(hook)
    this.hooks.push({ ...hook, status })
    return status
  }

  async #send({ source, headers, body }: ArrivingHook): Promise<number> {
    if (this.target === '') return 204
    const sent = Object.entries(headers).filter(([name]) => !perConnection.has(name)) as [string, string][]
    const response = await fetch(`${this.target}/${source}`, { method: 'POST', headers: sent, body })
    await response.arrayBuffer()
    return response.status
  }
}

/** The headers that belong to a connection, not to the hook. */
export const perConnection: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'host',
  'transfer-encoding',
])
