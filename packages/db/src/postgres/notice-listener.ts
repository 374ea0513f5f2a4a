import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { ListenOptions, NoticeListener } from '../port/db.ts'

/** The wait before the first attempt to connect again. It doubles with each failure, up to `MAX_DELAY_MS`. */
const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 10_000
/** How often a connection is checked. A server that has vanished closes nothing, so its silence is the only sign. */
const CHECK_INTERVAL_MS = 10_000
const ANSWER_LIMIT_MS = 5_000
/** How long closing waits for the server's consent. */
const END_LIMIT_MS = 1_000

/**
 * Returns the wait before the next attempt to connect: a random one between half of the ceiling and the ceiling, so that
 * processes that lost their connections together do not return together.
 *
 * @param failures the failures since the last connection, at least 1
 */
export function reconnectDelayMs(failures: number, random: () => number): number {
  const ceilingMs = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS)
  return ceilingMs / 2 + (random() * ceilingMs) / 2
}

/** Listens on one connection of its own, and connects again whenever it is lost, until it is closed. */
export class PostgresListener implements NoticeListener {
  readonly #newClient: () => Promise<pg.Client>
  readonly #channel: string
  readonly #options: ListenOptions
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #failures = 0
  /** Ends the current connection. */
  #interrupt: () => void = () => {}

  constructor(newClient: () => Promise<pg.Client>, channel: string, options: ListenOptions) {
    this.#newClient = newClient
    this.#channel = channel
    this.#options = options
    this.#ended = this.#run()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#interrupt()
    await this.#ended
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const loss = await this.#listenUntilLost(await this.#newClient())
      if (signal.aborted) return
      this.#failures += 1
      if (this.#failures === 1) this.#options.onLost?.(loss)
      await sleep(reconnectDelayMs(this.#failures, this.#options.random), undefined, { signal }).catch(() => {})
    }
  }

  /** Connects and listens. Returns why the connection was lost or could not be made; after `close`, anything. */
  async #listenUntilLost(client: pg.Client): Promise<unknown> {
    const lost = new Promise<unknown>((resolve) => {
      this.#interrupt = () => resolve(undefined)
      client.on('error', resolve)
      client.on('end', () => resolve(new Error('The server has closed the connection')))
    })
    let checking: NodeJS.Timeout | undefined
    try {
      const ready = await Promise.race([this.#listen(client).then(() => true), lost])
      if (ready !== true) return ready
      const silent = new Promise<unknown>((resolve) => {
        checking = setInterval(() => void ask(client, 'select 1').catch(resolve), CHECK_INTERVAL_MS)
      })
      return await Promise.race([lost, silent])
    } catch (error) {
      return error
    } finally {
      clearInterval(checking)
      await Promise.race([client.end().catch(() => {}), sleep(END_LIMIT_MS, undefined, { ref: false })])
    }
  }

  async #listen(client: pg.Client): Promise<void> {
    const { onNotice, onRestored } = this.#options
    await client.connect()
    const { rows } = await ask(client, 'select current_schema() as schema')
    client.on('notification', ({ payload }) => {
      if (payload === rows[0]?.schema && !this.#stop.signal.aborted) onNotice()
    })
    await ask(client, `listen "${this.#channel}"`)
    if (this.#stop.signal.aborted) return
    if (this.#failures > 0) onRestored?.()
    this.#failures = 0
    onNotice()
  }
}

/** Runs a statement, and fails if the server is silent. */
const ask = (client: pg.Client, text: string): Promise<pg.QueryResult> => {
  const query = { text, query_timeout: ANSWER_LIMIT_MS }
  return client.query(query)
}
