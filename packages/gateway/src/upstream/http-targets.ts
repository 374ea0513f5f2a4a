import type { Clock } from '@penstock/runtime'
import { buildConnector, Pool } from 'undici'
import { type Address, Addresses, type Resolve } from './addresses.ts'
import { within } from './deadline.ts'
import type { WatchedFile } from './watched-file.ts'

const CONNECT_TIMEOUT_MS = 2_000
const CLOSE_TIMEOUT_MS = 15_000
/**
 * How long an idle connection is kept. This is shorter than the 60 s of a Collector: if the peer closed the connection
 * just as a request is sent, the outcome would be unknown.
 */
const IDLE_CLOSE_MS = 30_000

/** One address of an upstream and its connection pool. */
export type Target = Address<Pool>

interface TargetsOptions {
  readonly origin: URL
  /** The highest number of connections per address. */
  readonly connections: number
  readonly ca: WatchedFile<string> | undefined
  readonly resolve: Resolve
  readonly clock: Clock
}

/** The addresses of an HTTP upstream, used in turn by successive requests. */
export class HttpTargets extends Addresses<Pool> {
  readonly #clock: Clock

  constructor(options: TargetsOptions) {
    super({
      hostname: options.origin.hostname,
      clock: options.clock,
      resolve: options.resolve,
      open: (ip) => poolTo(ip, options),
      // `close` lets requests in flight finish.
      close: (pool) => pool.close(() => {}),
    })
    this.#clock = options.clock
  }

  /** Closes all pools after their requests have ended, and cuts those that take too long. */
  async close(): Promise<void> {
    await Promise.all(this.all.map(({ resource: pool }) => this.#closePool(pool)))
  }

  async #closePool(pool: Pool): Promise<void> {
    await within(CLOSE_TIMEOUT_MS, this.#clock, pool.close()).catch(() => pool.destroy(() => {}))
  }
}

function poolTo(ip: string, { origin, connections, ca }: TargetsOptions): Pool {
  return new Pool(origin.origin, {
    connections,
    pipelining: 1,
    keepAliveTimeout: IDLE_CLOSE_MS,
    keepAliveMaxTimeout: IDLE_CLOSE_MS,
    // The request sender enforces the deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connectTo(ip, ca),
  })
}

/** Connects to `ip`, and keeps the origin's name for the Host header and TLS. */
function connectTo(ip: string, ca: WatchedFile<string> | undefined): buildConnector.connector {
  let connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...(ca && { ca: ca.value }) })
  let trusted = ca?.value
  return (options, callback) => {
    if (ca !== undefined && ca.value !== trusted) {
      trusted = ca.value
      connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, ca: trusted })
    }
    connector({ ...options, hostname: ip }, callback)
  }
}
