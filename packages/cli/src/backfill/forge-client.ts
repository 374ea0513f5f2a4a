import { PRODUCT_VERSION } from '@penstock/converter'
import {
  type HttpClient,
  type HttpReply,
  type Outcome,
  outcomeFromFailure,
  readRateLimit,
  sendWithRetry,
} from '@penstock/delivery'
import { defaultExportRetry } from '@penstock/exporter'
import {
  type ApiAnswer,
  type ApiRequest,
  type Ask,
  type ForgeApi,
  type JsonObject,
  parseLossless,
  RecordError,
  requestUrl,
} from '@penstock/forges'
import type { Clock, Random } from '@penstock/runtime'
import { UsageError } from '../process/environment.ts'
import { ForgeError, refusal } from './forge-error.ts'

interface ForgeClientOptions {
  readonly api: ForgeApi
  /** Completes the sentence "is this the address of …?". */
  readonly apiName: string
  /** The URL of the API, as returned by `apiUrl`. */
  readonly url: URL
  readonly token: string | undefined
  /** The HTTP client, which reads at most `maxReplyBytes` of a reply. */
  readonly client: HttpClient
  readonly maxReplyBytes: number
  readonly clock: Clock
  readonly random: Random
  readonly retryForMs: number
  readonly signal: AbortSignal
  /** Called before each wait, with a line for the user. */
  readonly notify: (line: string) => void
}

/** The timeout of one request. Slow forges need this long for a page, and a shorter timeout would only repeat the request. */
const READ_TIMEOUT_MS = 60_000
/** The number of consecutive refusals of one request for the rate limit. */
const MAX_RATE_REFUSALS = 20
const NO_BODY = new Uint8Array()

/** A client of a forge's REST API. It waits for rate limits, retries, and finally throws a `ForgeError`. */
export class ForgeClient {
  readonly #options: ForgeClientOptions
  readonly #headers: Readonly<Record<string, string>>
  /** The monotonic time before which no request is sent. All requests share the rate limit. */
  #notBeforeMs = Number.NEGATIVE_INFINITY

  /** @throws {UsageError} */
  constructor(options: ForgeClientOptions) {
    this.#options = options
    this.#headers = {
      accept: 'application/json',
      'user-agent': `penstock/${PRODUCT_VERSION}`,
      ...options.api.headers,
      ...(options.token && options.api.credentials(validateToken(options.token))),
    }
  }

  /** Sends a request. Returns `undefined` for a 404. @throws {ForgeError} */
  readonly ask: Ask = async (request) => {
    const reply = await this.#get(request)
    return reply.status === 404 ? undefined : this.#answer(request.path, reply)
  }

  /** Sends a request for something that has to exist. @throws {ForgeError} */
  readonly demand: Ask = async (request) => {
    const reply = await this.#get(request)
    if (reply.status === 404) throw refusal(request.path, reply, this.#options)
    return this.#answer(request.path, reply)
  }

  /**
   * Sends a change once, because a change that was made must not be made again.
   *
   * @param secret the secret in the body, which an error does not quote
   * @throws {ForgeError}
   */
  async change(method: 'POST' | 'PUT' | 'PATCH', path: string, body: JsonObject, secret: string): Promise<HttpReply> {
    const { client, signal, url } = this.#options
    const headers = { ...this.#headers, 'content-type': 'application/json' }
    const request = { method, url: requestUrl(url, { path }), headers, body: Buffer.from(JSON.stringify(body)) }
    const result = await client.send({ ...request, timeoutMs: READ_TIMEOUT_MS }, signal)
    signal.throwIfAborted()
    if (result.kind === 'failure') throw new ForgeError(`${path}: ${result.reason}`)
    if (result.status >= 200 && result.status < 300) return result
    throw refusal(path, result, this.#options, secret)
  }

  async #get(request: ApiRequest): Promise<HttpReply> {
    const { path } = request
    const { clock, signal, api } = this.#options
    const url = requestUrl(this.#options.url, request)
    for (let refusals = 0; ; refusals++) {
      for (let waitMs = this.#waitMs(); waitMs > 0; waitMs = this.#waitMs()) await clock.sleep(waitMs, signal)
      const reply = await this.#send(path, url)
      const { isRefused, waitMs } = readRateLimit(reply, api.rateLimit, clock.nowMs())
      this.#wait(waitMs, url.host)
      if ((reply.status >= 200 && reply.status < 300) || reply.status === 404) return reply
      if (!isRefused || refusals >= MAX_RATE_REFUSALS) throw refusal(path, reply, this.#options)
    }
  }

  #answer(path: string, { body, headers }: HttpReply): ApiAnswer {
    return { body: body.length === 0 ? undefined : this.#parsed(path, body), headers, bytes: body.length }
  }

  #parsed(path: string, body: Uint8Array): unknown {
    try {
      return parseLossless(Buffer.from(body).toString())
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      throw new ForgeError(`${path}: the answer ${error.reason}; is this the address of ${this.#options.apiName}?`)
    }
  }

  #wait(waitMs: number, host: string): void {
    if (waitMs <= this.#waitMs()) return
    this.#options.notify(`the rate limit of ${host} is used up; continues in ${Math.ceil(waitMs / 1_000)} s`)
    this.#notBeforeMs = this.#options.clock.monotonicMs() + waitMs
  }

  #waitMs(): number {
    return Math.max(0, this.#notBeforeMs - this.#options.clock.monotonicMs())
  }

  /** Sends a request and returns the answer. The request is retried after server errors. */
  async #send(path: string, url: URL): Promise<HttpReply> {
    const { client, clock, random, retryForMs, signal, notify } = this.#options
    const request = { method: 'GET', url, headers: this.#headers, body: NO_BODY } as const
    let answer: HttpReply | undefined
    const { outcome } = await sendWithRetry(
      async (timeoutMs) => {
        const result = await client.send({ ...request, timeoutMs }, signal)
        if (result.kind === 'failure') return outcomeFromFailure(result)
        answer = result
        return this.#outcomeOf(result)
      },
      {
        policy: { ...defaultExportRetry, giveUpAfterMs: retryForMs },
        attemptTimeoutMs: READ_TIMEOUT_MS,
        clock,
        random,
        signal,
        onRetry: ({ attemptsMade, waitMs, reason }) =>
          notify(`${path}: attempt ${attemptsMade} failed, next in ${(waitMs / 1_000).toFixed(1)} s: ${reason}`),
      },
    )
    signal.throwIfAborted()
    if (outcome.kind === 'delivered' && answer !== undefined) return answer
    throw new ForgeError(`${path}: ${outcome.kind === 'delivered' ? 'no answer' : outcome.reason}`)
  }

  #outcomeOf({ status, body, truncated }: HttpReply): Outcome {
    const retry = (reason: string): Outcome => ({ kind: 'retry', retryAfterMs: 0, reason })
    if (status >= 500) return retry(`HTTP ${status}`)
    if (!truncated) return { kind: 'delivered', rejectedItems: 0, message: '' }
    const { maxReplyBytes } = this.#options
    if (body.length < maxReplyBytes) return retry('the answer was cut off')
    const reason = `the answer is longer than ${maxReplyBytes} bytes (--max-file-bytes)`
    return { kind: 'dead', reason, authentication: false }
  }
}

/**
 * Returns the API URL of a forge, such as `https://forge.example/prefix/api/v4` for `https://forge.example/prefix`. The URL of an API is
 * unchanged.
 *
 * @throws {UsageError}
 */
export function apiUrl(text: string, api: ForgeApi): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--from must be a URL that starts with http:// or https://')
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('--from must not contain a user name, password, ? or #; pass the token with --private-token')
  }
  return api.apiUrl(url)
}

function validateToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError('the private token contains a character that is not allowed in a header; check it for blanks')
}
