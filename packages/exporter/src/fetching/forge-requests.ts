import { PRODUCT_VERSION } from '@penstock/converter'
import { type HttpClient, type HttpReply, type RateLimit, readRateLimit } from '@penstock/delivery'
import { type ApiAnswer, type ApiRequest, parseLossless, RecordError, requestUrl } from '@penstock/forges'
import type { Clock } from '@penstock/runtime'
import type { FetchFailure } from '../reporting/fetch-outcomes.ts'
import { oneLine } from '../sending/one-line.ts'
import type { SourceApi } from '../sources/source-api.ts'
import type { FetchLimits } from './fetch-limits.ts'

/** The error that ends an attempt to read a run. Its message is one line without secrets. */
export class FetchEnd extends Error {
  override readonly name = 'FetchEnd'
  /** Absent if another attempt may succeed. */
  readonly failure: FetchFailure | undefined
  /** How long no further request may be sent, if another attempt may succeed. */
  readonly waitMs: number
  /** Whether the forge had no part in it. */
  readonly isLocal: boolean

  constructor(reason: string, { failure, waitMs = 0, isLocal = false }: Partial<Omit<FetchEnd, keyof Error>> = {}) {
    super(oneLine(reason))
    this.failure = failure
    this.waitMs = waitMs
    this.isLocal = isLocal
  }
}

interface ForgeRequestsOptions {
  readonly client: HttpClient
  readonly clock: Clock
  readonly limits: Pick<FetchLimits, 'answerBytes' | 'runBytes' | 'requests' | 'requestTimeoutMs' | 'budgetMs'>
  readonly api: SourceApi
  /** The state of the source, which all its runs share. */
  readonly pause: RatePause
  /** The answers of earlier attempts, from `saved`. */
  readonly earlier: string | null
  readonly signal: AbortSignal
}

/** The monotonic time before which a source sends no request, because its rate limit is used up. */
export interface RatePause {
  untilMs: number
}

/** An answer as it is kept for the next attempt. */
interface KeptAnswer extends Pick<ApiAnswer, 'headers'> {
  readonly text: string
}

const NO_BODY = new Uint8Array()

/** Sends the requests about one run. Requests that an earlier attempt has sent are answered without the forge. */
export class ForgeRequests {
  readonly #options: ForgeRequestsOptions
  readonly #answers: Map<string, KeptAnswer>
  readonly #endsAtMs: number
  #bytes = 0

  constructor(options: ForgeRequestsOptions) {
    this.#options = options
    this.#answers = new Map(options.earlier === null ? [] : (JSON.parse(options.earlier) as [string, KeptAnswer][]))
    this.#endsAtMs = options.clock.monotonicMs() + options.limits.budgetMs
    for (const { text } of this.#answers.values()) this.#bytes += Buffer.byteLength(text)
  }

  /** The answers so far, for the next attempt; null if there are none. */
  get saved(): string | null {
    return this.#answers.size === 0 ? null : JSON.stringify([...this.#answers])
  }

  /**
   * Returns the answer; `undefined` for a 404.
   * @throws {FetchEnd}, RecordError for a path that leads elsewhere
   */
  async ask(request: ApiRequest): Promise<ApiAnswer | undefined> {
    const { api, limits } = this.#options
    const url = requestUrl(api.url, request)
    const key = url.pathname + url.search
    let kept = this.#answers.get(key)
    if (kept === undefined) {
      if (this.#answers.size >= limits.requests) {
        throw new FetchEnd(`the run takes more than ${limits.requests} requests`, { failure: 'too_large' })
      }
      this.#requireTime()
      kept = await this.#send(url, request.path)
      if (kept === undefined) return undefined
      this.#answers.set(key, kept)
    }
    return parsed(kept, request.path)
  }

  #requireTime(): void {
    const { clock, pause, signal } = this.#options
    const nowMs = clock.monotonicMs()
    if (signal.aborted || nowMs >= this.#endsAtMs) throw new FetchEnd('interrupted', { isLocal: true })
    if (nowMs < pause.untilMs) throw new FetchEnd('the rate limit is used up', { waitMs: pause.untilMs - nowMs })
  }

  async #send(url: URL, path: string): Promise<KeptAnswer | undefined> {
    const { client, clock, limits, api, pause, signal } = this.#options
    const { forgeApi, token } = api
    const headers = {
      accept: 'application/json',
      'user-agent': `penstock/${PRODUCT_VERSION}`,
      ...forgeApi.headers,
      ...forgeApi.credentials(token),
    }
    const timeoutMs = limits.requestTimeoutMs
    const reply = await client.send({ method: 'GET', url, headers, body: NO_BODY, timeoutMs }, signal)
    if (signal.aborted) throw new FetchEnd('interrupted', { isLocal: true })
    if (reply.kind === 'failure') throw new FetchEnd(`${path}: ${reply.reason}`)
    const limit = readRateLimit(reply, forgeApi.rateLimit, clock.nowMs())
    if (limit.waitMs > 0) pause.untilMs = Math.max(pause.untilMs, clock.monotonicMs() + limit.waitMs)
    if (reply.status === 200) return this.#read(reply, path)
    if (reply.status === 404) return undefined
    throw endOf(reply, path, limit)
  }

  #read({ body, headers, truncated }: HttpReply, path: string): KeptAnswer {
    const { limits } = this.#options
    if (truncated && body.length < limits.answerBytes) throw new FetchEnd(`${path}: the answer was cut off`)
    this.#bytes += body.length
    if (truncated || this.#bytes > limits.runBytes) {
      throw new FetchEnd(`${path}: the answers about the run are longer than ${limits.runBytes} bytes`, {
        failure: 'too_large',
      })
    }
    const { 'set-cookie': _, ...kept } = headers
    return { text: Buffer.from(body).toString(), headers: kept }
  }
}

function parsed({ text, headers }: KeptAnswer, path: string): ApiAnswer {
  try {
    const body = text.trim() === '' ? undefined : parseLossless(text)
    return { body, headers, bytes: Buffer.byteLength(text) }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    throw new FetchEnd(`${path}: the answer is not JSON`, { failure: 'unreadable' })
  }
}

const advice: Readonly<Record<number, { readonly failure: FetchFailure; readonly text: string }>> = {
  401: { failure: 'unauthorized', text: 'the apiToken is wrong or expired' },
  403: { failure: 'forbidden', text: 'the apiToken may not read the run' },
  410: { failure: 'not_found', text: 'the run is gone' },
}

/** Returns what an answer without a run means. Bodies are not quoted, because a proxy may repeat the request in them. */
function endOf({ status }: HttpReply, path: string, { isRefused, waitMs }: RateLimit): FetchEnd {
  const reason = `${path}: HTTP ${status}`
  if (isRefused || status >= 500 || status === 408) return new FetchEnd(reason, { waitMs })
  if (status >= 300 && status < 400) {
    const text = 'it redirects, and the apiToken is sent to no other address; set apiUrl to the final one'
    return new FetchEnd(`${reason}: ${text}`, { failure: 'refused' })
  }
  const known = advice[status]
  return new FetchEnd(known === undefined ? reason : `${reason}: ${known.text}`, {
    failure: known?.failure ?? 'refused',
  })
}
