import { networkOf } from '@penstock/runtime'
import type { TokenRecord } from '../contract/token-record.ts'
import type { WrongPathRequest } from '../contract/wrong-path.ts'
import { secretPrefixes } from '../secrets/token-format.ts'
import { userAgentFamily } from './client-sketch.ts'

/** The requests of one client with a valid token on one wrong path. */
export interface WrongPath {
  /** The network of the source: /24 or /64. */
  readonly network: string
  /** The first word of User-Agent without its version, or '' if the header is absent. */
  readonly userAgent: string
  readonly transport: string
  /** The decoded path, without its query, cut after 200 characters; '' if it contains a secret. */
  readonly path: string
  /** The path that was probably meant, or those of all signals. */
  readonly rightPaths: readonly string[]
  readonly tokenId: string
  readonly firstSeenMs: number
  readonly lastSeenMs: number
  /** The requests since the row was added. */
  readonly count: number
}

const MAX_ROWS = 100
const MAX_PATH_LENGTH = 200

/**
 * Remembers the requests with a valid token on a path that accepts no telemetry, which are refused in every mode. It keeps the 100 rows that
 * were seen last; only holders of tokens can add rows.
 */
export class WrongPaths {
  /** In the order in which they were seen last, oldest first. */
  readonly #rows = new Map<string, WrongPath>()

  record(request: WrongPathRequest, token: TokenRecord, nowMs: number): void {
    const network = networkOf(request.source)
    const userAgent = userAgentFamily(request.userAgent)
    const { transport, suggestion } = request
    const path = pathForReport(request)
    const key = JSON.stringify([network, userAgent, transport, path, token.id])
    const known = this.#rows.get(key)
    this.#rows.delete(key)
    const oldest = this.#rows.size < MAX_ROWS ? undefined : this.#rows.keys().next().value
    if (oldest !== undefined) this.#rows.delete(oldest)
    this.#rows.set(key, {
      network,
      userAgent,
      transport,
      path,
      rightPaths: suggestion.paths,
      tokenId: token.id,
      firstSeenMs: known?.firstSeenMs ?? nowMs,
      lastSeenMs: nowMs,
      count: (known?.count ?? 0) + 1,
    })
  }

  report(): readonly WrongPath[] {
    return [...this.#rows.values()]
  }
}

/** Returns the path for logs and reports; '' if the client has put a secret into it. */
export function pathForReport({ path, credential }: Pick<WrongPathRequest, 'path' | 'credential'>): string {
  const secrets = [...Object.values(secretPrefixes), ...(credential.kind === 'bearer' ? [credential.value] : [])]
  return secrets.some((secret) => path.includes(secret)) ? '' : path.slice(0, MAX_PATH_LENGTH)
}

/** Merges the rows of several processes. */
export function mergeWrongPaths(reports: readonly (readonly WrongPath[])[]): readonly WrongPath[] {
  const rows = new Map<string, WrongPath>()
  for (const row of reports.flat()) {
    const key = JSON.stringify([row.network, row.userAgent, row.transport, row.path, row.tokenId])
    const known = rows.get(key)
    rows.set(
      key,
      known === undefined
        ? row
        : {
            ...row,
            firstSeenMs: Math.min(row.firstSeenMs, known.firstSeenMs),
            lastSeenMs: Math.max(row.lastSeenMs, known.lastSeenMs),
            count: row.count + known.count,
          },
    )
  }
  return [...rows.values()]
}
