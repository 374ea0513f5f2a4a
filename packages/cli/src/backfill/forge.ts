import { PRODUCT_VERSION, parseLossless, RecordError } from '@penstock/converter'
import { type HttpClient, type HttpReply, type Outcome, outcomeOfFailure, sendWithRetry } from '@penstock/delivery'
import { defaultExportRetry } from '@penstock/exporter'
import type { Clock, Random } from '@penstock/runtime'
import { UsageError } from '../environment.ts'
import { ForgeError, refusal } from './forge-error.ts'
import { rateLimitWaitMs } from './rate-limit.ts'

export interface ForgeOptions {
  /** `apiUrl(…)`. */
  readonly url: URL
  readonly token: string | undefined
  /** Keeps `maxReplyBytes` of a reply. */
  readonly client: HttpClient
  readonly maxReplyBytes: number
  readonly clock: Clock
  readonly random: Random
  readonly retryForMs: number
  readonly signal: AbortSignal
  /** Hears of every wait. */
  readonly tell: (line: string) => void
}

export type JsonObject = Readonly<Record<string, unknown>>

export interface Item {
  readonly id: bigint
  readonly value: JsonObject
}

export interface Page {
  readonly items: readonly Item[]
  /** Of all pages, where the forge tells. */
  readonly total: number | undefined
  /** None comes after it. */
  readonly last: boolean
  /** As received. */
  readonly bytes: number
}

type Query = Readonly<Record<string, string | number | undefined>>

/** A slow page of a busy forge; less would have us ask for it again and again. */
const READ_TIMEOUT_MS = 60_000
/** In a row, of one request. */
const MAX_RATE_REFUSALS = 20
const NO_BODY = new Uint8Array()

/** A forge with GitLab's REST API: reads, waits where it is asked to, and gives up with a `ForgeError`. */
export class Forge {
  readonly #options: ForgeOptions
  readonly #headers: Readonly<Record<string, string>>
  /** For every request: the limit is one for all. */
  #notBeforeMs = 0

  /** @throws {UsageError} */
  constructor(options: ForgeOptions) {
    this.#options = options
    this.#headers = {
      accept: 'application/json',
      'user-agent': `penstock/${PRODUCT_VERSION}`,
      ...(options.token && { 'private-token': requireHeaderSafe(options.token) }),
    }
  }

  /** @throws {ForgeError} */
  async object(path: string, onRead: (bytes: number) => void = () => {}): Promise<JsonObject> {
    const { body } = await this.#get(path, {})
    onRead(body.length)
    const value = parsed(path, body)
    if (!isObject(value)) throw new ForgeError(`${path}: the answer is no JSON object`)
    return value
  }

  /** @throws {ForgeError} */
  async page(path: string, query: Query, number: number): Promise<Page> {
    const { body, headers } = await this.#get(path, { ...query, page: number })
    const list = parsed(path, body)
    if (!Array.isArray(list)) throw new ForgeError(`${path}: the answer is no JSON list`)
    const total = headers['x-total']
    return {
      items: list.map((value) => itemOf(path, value)),
      total: total !== undefined && /^\d{1,15}$/.test(total) ? Number(total) : undefined,
      last: list.length === 0 || !hasNext(headers),
      bytes: body.length,
    }
  }

  async #get(path: string, query: Query): Promise<HttpReply> {
    const url = this.#urlOf(path, query)
    const { clock, signal } = this.#options
    for (let refusals = 0; ; refusals++) {
      while (this.#notBeforeMs > clock.nowMs()) await clock.sleep(this.#notBeforeMs - clock.nowMs(), signal)
      const reply = await this.#answer(path, url)
      this.#heedRateLimit(reply, url.host)
      if (reply.status >= 200 && reply.status < 300) return reply
      if (reply.status !== 429 || refusals >= MAX_RATE_REFUSALS) {
        throw refusal(path, reply, this.#options.token)
      }
    }
  }

  #heedRateLimit(reply: HttpReply, host: string): void {
    const nowMs = this.#options.clock.nowMs()
    const waitMs = rateLimitWaitMs(reply, nowMs)
    if (nowMs + waitMs <= this.#notBeforeMs) return
    if (waitMs > 0) {
      this.#options.tell(`the rate limit of ${host} is used up; goes on in ${Math.ceil(waitMs / 1_000)} s`)
    }
    this.#notBeforeMs = nowMs + waitMs
  }

  /** Any answer but a server's own failure, which is waited out. */
  async #answer(path: string, url: URL): Promise<HttpReply> {
    const { client, clock, random, retryForMs, signal, tell } = this.#options
    const request = { method: 'GET', url, headers: this.#headers, body: NO_BODY } as const
    let answer: HttpReply | undefined
    const { outcome } = await sendWithRetry(
      async (timeoutMs) => {
        const result = await client.send({ ...request, timeoutMs }, signal)
        if (result.kind === 'failure') return outcomeOfFailure(result)
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
          tell(`${path}: attempt ${attemptsMade} failed, next in ${(waitMs / 1_000).toFixed(1)} s: ${reason}`),
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
    if (body.length < maxReplyBytes) return retry('the answer broke off')
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
 * `https://forge.example/prefix` → `https://forge.example/prefix/api/v4`; one that ends like this stays.
 *
 * @throws {UsageError}
 */
export function apiUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--from must be a URL that starts with http:// or https://')
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('--from must hold no user name, password, ? or #; give the token with --private-token')
  }
  const segments = url.pathname.split('/').filter((segment) => segment !== '')
  const isWhole = segments.at(-2) === 'api' && segments.at(-1) === 'v4'
  url.pathname = `/${[...segments, ...(isWhole ? [] : ['api', 'v4'])].join('/')}`
  return url
}

/** `X-Next-Page` and `Link` are two ways to tell; where a forge has neither, an empty page is the end. */
function hasNext({ 'x-next-page': next, link }: HttpReply['headers']): boolean {
  if (next !== undefined) return next.trim() !== ''
  return link === undefined || /\brel="?next"?/.test(link)
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
  const id = isObject(value) ? idOf(value.id) : undefined
  if (id === undefined) throw new ForgeError(`${path}: an item of the list has no id`)
  return { id, value: value as JsonObject }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined: not a positive integer that was read without loss. */
export function idOf(value: unknown): bigint | undefined {
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value)
  const id = isInteger ? BigInt(value as bigint | number) : 0n
  return id > 0n ? id : undefined
}

function requireHeaderSafe(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError('the private token holds a character that a header cannot; is there a blank in it?')
}
