import { PRODUCT_VERSION } from '@penstock/converter'
import { type HttpClient, type HttpReply, type Outcome, outcomeFromFailure, sendWithRetry } from '@penstock/delivery'
import { defaultExportRetry } from '@penstock/exporter'
import { isObject, type JsonObject, parseLossless, RecordError, type RestApi, toId } from '@penstock/forges'
import type { Clock, Random } from '@penstock/runtime'
import { UsageError } from '../process/environment.ts'
import { ForgeError, refusal } from './forge-error.ts'
import { rateLimitWaitMs } from './rate-limit.ts'

interface ForgeClientOptions {
  readonly api: RestApi
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

export interface Item {
  readonly id: bigint
  readonly value: JsonObject
}

export interface Page {
  readonly items: readonly Item[]
  /** The number of items on all pages, if the forge sends it. */
  readonly total: number | undefined
  /** Whether this is the last page. */
  readonly last: boolean
  /** The length of the body as received. */
  readonly bytes: number
}

type Query = Readonly<Record<string, string | number | undefined>>

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
      ...(options.token && options.api.credentials(validateToken(options.token))),
    }
  }

  /** @throws {ForgeError} */
  async object(path: string, onRead: (bytes: number) => void = () => {}): Promise<JsonObject> {
    const { body } = await this.#get(path, {})
    onRead(body.length)
    const value = parsed(path, body)
    if (!isObject(value)) throw new ForgeError(`${path}: the answer is not a JSON object`)
    return value
  }

  /** @throws {ForgeError} */
  async page(path: string, query: Query, number: number): Promise<Page> {
    const { body, headers } = await this.#get(path, { ...query, page: number })
    const list = parsed(path, body)
    if (!Array.isArray(list)) throw new ForgeError(`${path}: the answer is not a JSON list`)
    const { total, hasNext } = this.#options.api.readPage(headers)
    return {
      items: list.map((value) => itemOf(path, value)),
      total,
      last: list.length === 0 || !hasNext,
      bytes: body.length,
    }
  }

  async #get(path: string, query: Query): Promise<HttpReply> {
    const url = this.#urlOf(path, query)
    const { clock, signal } = this.#options
    for (let refusals = 0; ; refusals++) {
      for (let waitMs = this.#waitMs(); waitMs > 0; waitMs = this.#waitMs()) await clock.sleep(waitMs, signal)
      const reply = await this.#answer(path, url)
      this.#applyRateLimit(reply, url.host)
      if (reply.status >= 200 && reply.status < 300) return reply
      if (reply.status !== 429 || refusals >= MAX_RATE_REFUSALS) {
        throw refusal(path, reply, this.#options.token)
      }
    }
  }

  #applyRateLimit(reply: HttpReply, host: string): void {
    const { clock } = this.#options
    const waitMs = rateLimitWaitMs(reply, clock.nowMs())
    if (waitMs <= this.#waitMs()) return
    if (waitMs > 0) {
      this.#options.notify(`the rate limit of ${host} is used up; continues in ${Math.ceil(waitMs / 1_000)} s`)
    }
    this.#notBeforeMs = clock.monotonicMs() + waitMs
  }

  #waitMs(): number {
    return Math.max(0, this.#notBeforeMs - this.#options.clock.monotonicMs())
  }

  /** Sends a request and returns the answer. The request is retried after server errors. */
  async #answer(path: string, url: URL): Promise<HttpReply> {
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

  #urlOf(path: string, query: Query): URL {
    const url = new URL(this.#options.url)
    url.pathname += path
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return url
  }
}

/**
 * Returns the API URL of a forge: `https://forge.example/prefix` → `https://forge.example/prefix/api/v4`. A URL that already
 * ends with the API path is unchanged.
 *
 * @throws {UsageError}
 */
export function apiUrl(text: string, api: RestApi): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--from must be a URL that starts with http:// or https://')
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('--from must not contain a user name, password, ? or #; pass the token with --private-token')
  }
  const path = url.pathname.replaceAll(/\/+/g, '/').replace(/\/$/, '')
  url.pathname = path.endsWith(api.path) ? path : `${path}${api.path}`
  return url
}

function parsed(path: string, body: Uint8Array): unknown {
  try {
    return parseLossless(Buffer.from(body).toString())
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    throw new ForgeError(`${path}: the answer ${error.reason}; is this the address of a GitLab-compatible API?`)
  }
}

function itemOf(path: string, value: unknown): Item {
  const id = isObject(value) ? toId(value.id) : undefined
  if (id === undefined) throw new ForgeError(`${path}: an item of the list has no id`)
  return { id, value: value as JsonObject }
}

function validateToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError('the private token contains a character that is not allowed in a header; check it for blanks')
}
