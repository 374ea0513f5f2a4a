import { isIP } from 'node:net'
import { Agent, type Dispatcher, errors, Pool } from 'undici'
import { AddressBlocked, type AddressPolicy, findBlockReason } from './address-guard.ts'
import { getHost } from './allowed-hosts.ts'
import { GuardedConnections } from './guarded-connections.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** http or https, without userinfo. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** The body; empty for GET. */
  readonly body: Uint8Array
  /** The timeout for everything: waiting for a connection, connecting, sending, and reading the reply. */
  readonly timeoutMs: number
}

export interface HttpReply {
  readonly kind: 'reply'
  readonly status: number
  /** Headers with names in lower case; the values of a repeated header are joined with ', '. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Whether the body is longer than the kept part, or was cut off. The status is valid in either case. */
  readonly truncated: boolean
}

/** The failure of a request that got no status line in reply. The receiver may or may not have acted on it. */
export interface NetworkFailure {
  readonly kind: 'failure'
  /** The code from Node (`ECONNREFUSED`), undici (`UND_ERR_SOCKET`), its parser (`HPE_…`), OpenSSL, or `ownReasons`. */
  readonly code: string
  /** A description for people. It never contains library messages, because these may quote the request. */
  readonly reason: string
}

export interface HttpClientLimits {
  /** The highest number of connections per origin; further requests wait for a free one within their `timeoutMs`. */
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  /** The longest pause within the body of a reply. */
  readonly bodyTimeoutMs: number
  /** The kept part of a reply's body; a connection with a longer one is closed. */
  readonly keptReplyBytes: number
  /** Whether the certificates of servers are verified. Default: yes. */
  readonly verifiesTls?: boolean
}

export const defaultHttpClientLimits: HttpClientLimits = {
  connections: 4,
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 5_000,
  keptReplyBytes: 64 * 1024,
}

/**
 * Sends HTTP/1.1 requests over kept-alive connections, with a pool per origin. Redirects are returned as replies. Network
 * failures are returned as values; thrown errors are bugs of the caller.
 */
export class HttpClient {
  readonly #agent: Dispatcher
  readonly #keptReplyBytes: number
  readonly #addressPolicy: (() => AddressPolicy) | undefined
  readonly #guarded: GuardedConnections | undefined

  /**
   * @param addressPolicy the policy for URLs that users have chosen; called for every
   * connection, and before each use of one
   */
  constructor(limits: HttpClientLimits = defaultHttpClientLimits, addressPolicy?: () => AddressPolicy) {
    this.#keptReplyBytes = limits.keptReplyBytes
    this.#addressPolicy = addressPolicy
    const guarded = addressPolicy && new GuardedConnections(addressPolicy)
    this.#guarded = guarded
    const connect = { timeout: limits.connectTimeoutMs, rejectUnauthorized: limits.verifiesTls ?? true }
    const options = {
      connections: limits.connections,
      pipelining: 1,
      headersTimeout: limits.headersTimeoutMs,
      bodyTimeout: limits.bodyTimeoutMs,
    }
    const agent = new Agent({
      ...options,
      factory: (origin) =>
        new Pool(origin, { ...options, connect: guarded?.connector(new URL(origin), connect) ?? connect }),
    })
    this.#agent = guarded ? agent.compose(guarded.interceptor) : agent
  }

  async send(request: HttpRequest, signal?: AbortSignal): Promise<HttpReply | NetworkFailure> {
    const blocked = this.#blockedLiteral(request.url)
    if (blocked !== undefined) return failureOf(new AddressBlocked(blocked))
    // Cuts forbidden connections first, so that the request gets a new connection instead of one that would be cut
    // under it.
    this.#guarded?.cutForbidden(request.url)
    const interruption = new Interruption(request.timeoutMs, signal)
    try {
      // undici notices an abort only once the request has a connection, and there may be none for a long time.
      const response = await Promise.race([interruption.happened, this.#start(request, interruption.signal)])
      return await this.#reply(response)
    } catch (error) {
      return failureOf(error)
    } finally {
      interruption.end()
    }
  }

  /** Waits for the requests in progress, each of which has its own deadline, and closes the connections. */
  close(): Promise<void> {
    return this.#agent.close()
  }

  /**
   * Returns why the policy forbids a URL with an IP address as host. The guarded lookup does not check such a URL,
   * because its host is not looked up.
   */
  #blockedLiteral(url: URL): string | undefined {
    const host = getHost(url)
    if (this.#addressPolicy === undefined || isIP(host) === 0) return undefined
    return findBlockReason(this.#addressPolicy(), { url, addresses: [host] })
  }

  #start(request: HttpRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { url, method, headers, body } = request
    return this.#agent.request({ origin: url.origin, path: url.pathname + url.search, method, headers, body, signal })
  }

  async #reply(response: Dispatcher.ResponseData): Promise<HttpReply> {
    const headers = Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')])
    const body = await readBody(response.body, this.#keptReplyBytes)
    return { kind: 'reply', status: response.statusCode, headers: Object.fromEntries(headers), ...body }
  }
}

/** Reads up to `keptBytes` of a body. Leaving the loop early destroys the stream, and the connection with it. */
async function readBody(
  stream: AsyncIterable<Uint8Array>,
  keptBytes: number,
): Promise<Pick<HttpReply, 'body' | 'truncated'>> {
  const parts: Uint8Array[] = []
  let bytes = 0
  let truncated = false
  try {
    for await (const part of stream) {
      parts.push(part.subarray(0, keptBytes - bytes))
      bytes += part.length
      truncated = bytes > keptBytes
      if (truncated) break
    }
  } catch (error) {
    failureOf(error)
    truncated = true
  }
  return { body: Buffer.concat(parts), truncated }
}

/** The failures that this client causes itself. */
const ownReasons = {
  PENSTOCK_DEADLINE: 'no answer in time',
  PENSTOCK_ABORTED: 'stopped while waiting for an answer',
} as const

/** Combines the deadline of a request and the caller's signal, because undici takes only one signal. */
class Interruption {
  readonly happened: Promise<never>
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #callerSignal: AbortSignal | undefined
  readonly #onCallerAbort = () => this.#interrupt('PENSTOCK_ABORTED')

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.happened = new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true })
    })
    this.happened.catch(() => {})
    this.#timer = setTimeout(() => this.#interrupt('PENSTOCK_DEADLINE'), timeoutMs)
    this.#callerSignal = callerSignal
    callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true })
    if (callerSignal?.aborted) this.#onCallerAbort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort)
  }

  #interrupt(code: keyof typeof ownReasons): void {
    this.#controller.abort(Object.assign(new Error(ownReasons[code]), { code }))
  }
}

const reasonByCode: readonly { readonly code: RegExp; readonly reason: string }[] = [
  { code: /^ECONNREFUSED$/, reason: 'connection refused' },
  { code: /^(ENOTFOUND|EAI_AGAIN|EAI_NODATA)$/, reason: 'host name not found' },
  { code: /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, reason: 'no connection in time' },
  { code: /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, reason: 'no answer in time' },
  { code: /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/, reason: 'connection closed before an answer' },
  { code: /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, reason: 'host cannot be reached' },
  { code: /^(HPE_|UND_ERR_HEADERS_OVERFLOW$)/, reason: 'the answer is not HTTP' },
  { code: /^(ERR_SSL_|ERR_TLS_|EPROTO$)|CERT|LEAF_SIGNATURE/, reason: 'TLS handshake failed' },
]

/** The codes with which undici and Node report wrong arguments and closed clients. */
const callerMistake = /^(UND_ERR_(INVALID_ARG|NOT_SUPPORTED|CLOSED|DESTROYED)$|ERR_INVALID_)/

/**
 * Returns the failure for a network error.
 * @throws the error itself if the network did not cause it
 */
function failureOf(error: unknown): NetworkFailure {
  const code = codeOf(error)
  if (typeof code !== 'string' || callerMistake.test(code)) throw error
  if (error instanceof AddressBlocked) return { kind: 'failure', code, reason: error.message }
  if (code in ownReasons) return { kind: 'failure', code, reason: ownReasons[code as keyof typeof ownReasons] }
  const known = reasonByCode.find((row) => row.code.test(code))
  return { kind: 'failure', code, reason: `${known?.reason ?? 'network failure'} (${code})` }
}

function codeOf(error: unknown): unknown {
  if (error instanceof errors.HTTPParserError) return error.code ?? 'HPE_UNKNOWN'
  return error instanceof Error && 'code' in error ? error.code : undefined
}
