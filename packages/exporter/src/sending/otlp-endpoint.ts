import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import {
  type Delivery,
  type HttpClient,
  type HttpRequest,
  type Outcome,
  outcomeFromFailure,
  type RetryContext,
  type RetryNotice,
  type RetryPolicy,
  sendWithRetry,
} from '@penstock/delivery'
import { contentTypes, type EncodedChunk, type Signal } from '@penstock/otlp'
import type { Clock, Random } from '@penstock/runtime'
import { EndpointError, signalUrls } from './endpoint-url.ts'
import { outcomeOfExport } from './otlp-response.ts'
import { type RequestHeaders, secretsIn } from './request-headers.ts'

export interface OtlpEndpointOptions {
  /** The OTLP/HTTP base URL, to which `/v1/traces` and the like are appended. */
  readonly url: string
  /** Sent as a bearer token; '' or absent: no Authorization header. */
  readonly token?: string | undefined
  /** Sent with each request. One of them may be `authorization` if there is no token. */
  readonly headers?: RequestHeaders | undefined
  /** The version of this product, for the `User-Agent` header. */
  readonly version: string
  readonly client: HttpClient
  readonly clock: Clock
  readonly random: Random
  readonly retry?: RetryPolicy
  readonly attemptTimeoutMs?: number
  /** Default true; bodies under a kilobyte are never compressed. */
  readonly gzip?: boolean
}

export interface SendOptions {
  readonly signal?: AbortSignal | undefined
  readonly onRetry?: ((retry: RetryNotice) => void) | undefined
}

export interface ChunkDelivery extends Delivery {
  /** The HTTP status of the last attempt; undefined if it got no reply. */
  readonly status: number | undefined
  /** The size of the body as sent, counted once for all attempts. */
  readonly wireBytes: number
}

export interface ChunkAttempt {
  readonly outcome: Outcome
  /** Undefined if there was no reply; the receiver may have accepted the request nevertheless. */
  readonly status: number | undefined
}

/** Gives up after five minutes, like the Collector's exporters. */
export const defaultExportRetry: RetryPolicy = { baseMs: 1_000, capMs: 30_000, giveUpAfterMs: 5 * 60_000 }
/** Equal to the default of `OTEL_EXPORTER_OTLP_TIMEOUT`. */
export const DEFAULT_ATTEMPT_TIMEOUT_MS = 10_000

const MIN_GZIP_BYTES = 1024
const gzipped = promisify(gzip)

/** An OTLP/HTTP receiver, with the credential and the retry policy for it. */
export class OtlpEndpoint {
  readonly urls: Readonly<Record<Signal, URL>>
  readonly #ownHeaders: RequestHeaders
  readonly #secrets: readonly string[]
  readonly #gzip: boolean
  readonly #client: HttpClient
  readonly #retry: Pick<RetryContext, 'policy' | 'attemptTimeoutMs' | 'clock' | 'random'>

  /** @throws EndpointError if the URL or the token is invalid, or if there are a token and an Authorization header */
  constructor(options: OtlpEndpointOptions) {
    this.urls = signalUrls(options.url)
    const token = requireToken(options.token)
    const { headers = {} } = options
    if (token !== undefined && headers.authorization !== undefined) {
      throw new EndpointError('a token and the header authorization are set; use one of them')
    }
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#ownHeaders = { 'user-agent': `penstock/${options.version}`, ...headers, ...authorization }
    this.#secrets = secretsIn({ ...headers, ...authorization })
    this.#gzip = options.gzip ?? true
    this.#client = options.client
    this.#retry = {
      policy: options.retry ?? defaultExportRetry,
      attemptTimeoutMs: options.attemptTimeoutMs ?? DEFAULT_ATTEMPT_TIMEOUT_MS,
      clock: options.clock,
      random: options.random,
    }
  }

  /**
   * Sends a chunk until it is accepted, refused permanently, out of time or aborted.
   * Compresses it once for all attempts.
   */
  async sendChunk(chunk: EncodedChunk, { signal, onRetry }: SendOptions = {}): Promise<ChunkDelivery> {
    const request = await this.#requestOf(chunk)
    let status: number | undefined
    const delivery = await sendWithRetry(
      async (timeoutMs) => {
        const attempt = await this.#attempt(request, chunk, timeoutMs, signal)
        status = attempt.status
        return attempt.outcome
      },
      { ...this.#retry, signal, onRetry },
    )
    return { ...delivery, status, wireBytes: request.body.length }
  }

  /** Sends a chunk once. */
  async tryChunk(chunk: EncodedChunk, signal?: AbortSignal): Promise<ChunkAttempt> {
    return this.#attempt(await this.#requestOf(chunk), chunk, this.#retry.attemptTimeoutMs, signal)
  }

  async #requestOf(chunk: EncodedChunk): Promise<Omit<HttpRequest, 'timeoutMs'>> {
    const compress = this.#gzip && chunk.body.length >= MIN_GZIP_BYTES
    const body = compress ? await gzipped(chunk.body, { level: constants.Z_BEST_SPEED }) : chunk.body
    return { method: 'POST', url: this.urls[chunk.signal], headers: this.#headers(chunk, compress), body }
  }

  async #attempt(
    request: Omit<HttpRequest, 'timeoutMs'>,
    { signal: name, encoding }: EncodedChunk,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<ChunkAttempt> {
    const result = await this.#client.send({ ...request, timeoutMs }, signal)
    if (result.kind === 'failure') return { outcome: outcomeFromFailure(result), status: undefined }
    const nowMs = this.#retry.clock.nowMs()
    const outcome = outcomeOfExport(result, { signal: name, encoding, secrets: this.#secrets, nowMs })
    return { outcome, status: result.status }
  }

  #headers(chunk: EncodedChunk, compressed: boolean): Readonly<Record<string, string>> {
    return {
      ...this.#ownHeaders,
      'content-type': contentTypes[chunk.encoding],
      ...(compressed && { 'content-encoding': 'gzip' }),
    }
  }
}

const headerSafe = /^[\x21-\x7e]+$/

function requireToken(token = ''): string | undefined {
  if (token === '') return undefined
  if (headerSafe.test(token)) return token
  throw new EndpointError(
    'the token contains a character that is invalid in a header; check it for blanks and line breaks',
  )
}
