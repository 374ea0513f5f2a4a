import { buildConnector, Pool } from 'undici'
import { type Address, Addresses, type Resolve } from './addresses.ts'
import type { WatchedFile } from './watched-file.ts'

const CONNECT_TIMEOUT_MS = 2_000
/** Below the 60 s of a collector: a connection closed by the other side while we write is an unknown outcome. */
const IDLE_CLOSE_MS = 30_000

/** One address of an upstream, with its own connections. */
export type Target = Address<Pool>

export interface TargetsOptions {
  readonly origin: URL
  /** Per address. */
  readonly connections: number
  readonly ca: WatchedFile<string> | undefined
  readonly resolve: Resolve
  readonly nowMs: () => number
}

/** The addresses of an upstream over HTTP, taken in turn by request. */
export class HttpTargets extends Addresses<Pool> {
  constructor(options: TargetsOptions) {
    super({
      hostname: options.origin.hostname,
      nowMs: options.nowMs,
      resolve: options.resolve,
      keep: (ip) => poolTo(ip, options),
      // What is under way there may finish.
      release: (pool) => pool.close(() => {}),
    })
  }

  /** Waits for the requests under way, each of which has its own deadline. */
  async close(): Promise<void> {
    await Promise.all(this.all.map(({ kept: pool }) => pool.close()))
  }
}

function poolTo(ip: string, { origin, connections, ca }: TargetsOptions): Pool {
  return new Pool(origin.origin, {
    connections,
    pipelining: 1,
    keepAliveTimeout: IDLE_CLOSE_MS,
    keepAliveMaxTimeout: IDLE_CLOSE_MS,
    // Each request has its deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connectTo(ip, ca),
  })
}

/** The origin's name stays in the Host header and in TLS; only the way there is fixed. */
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
