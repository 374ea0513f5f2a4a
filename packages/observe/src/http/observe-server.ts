import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Listening, listen } from '@penstock/http'
import {
  contentTypes,
  type Encoding,
  encodeExportResponse,
  encodeRpcStatus,
  GrpcCode,
  type PartialSuccess,
  type Signal,
  signalNames,
  signals,
} from '@penstock/otlp'
import { type Log, silentLog } from '@penstock/runtime'
import type { Observe } from '../observe.ts'
import { type ContentCoding, tooLargeText } from '../store/received-request.ts'

export interface ObserveServerOptions {
  /** The bearer token that requests must present; only the gateway has it. */
  readonly credential: string
  /** The limit on all bodies in progress together. Default 256 MiB. */
  readonly inFlightBytes?: number
  readonly log?: Log
}

export interface ObserveServer extends Listening {
  /** The number of requests with profiles so far; they are accepted but not stored. */
  readonly profilesDropped: number
}

const MIB = 1024 * 1024
const RETRY_AFTER_SECONDS = 3
const LOG_EVERY_MS = 60_000

const profilesPath = '/v1development/profiles'
const signalByPath = new Map<string | undefined, Signal>(
  signalNames.map((signal) => [signals[signal].httpPath, signal]),
)
const encodingByType = new Map(Object.entries(contentTypes).map(([encoding, type]) => [type, encoding as Encoding]))

const codings: readonly ContentCoding[] = ['gzip', 'deflate', 'identity']

/** The error for a refused request. */
class Refusal extends Error {
  readonly status: number
  readonly code: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

const tooLarge = (text: string) => new Refusal(413, GrpcCode.RESOURCE_EXHAUSTED, text)
const unavailable = (text: string) =>
  new Refusal(503, GrpcCode.UNAVAILABLE, text, { 'Retry-After': `${RETRY_AFTER_SECONDS}` })

/**
 * Starts an OTLP/HTTP server for the store on a loopback port: the gateway's upstream if none is configured.
 *
 * A 200 means that the data is on disk. Profiles are accepted and dropped, and the reply says so: after a 404 the gateway
 * would treat the upstream as something other than an OTLP receiver.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export async function observeServer(
  store: Pick<Observe, 'limits' | 'receive'>,
  options: ObserveServerOptions,
): Promise<ObserveServer> {
  const intake = new Intake(store, options)
  const address = { host: '127.0.0.1', port: 0 }
  const listening = await listen((request, response) => void intake.answer(request, response), address, {
    // All connections come from the gateway and its workers.
    isExempt: () => true,
    log: options.log ?? silentLog,
  })
  return {
    ...listening,
    get profilesDropped() {
      return intake.profilesDropped
    },
  }
}

class Intake {
  profilesDropped = 0
  readonly #store: Pick<Observe, 'limits' | 'receive'>
  readonly #authorization: Buffer
  readonly #maxBodyBytes: number
  readonly #inFlightBytes: number
  readonly #log: Log
  #bytesInFlight = 0
  #isQuiet = false

  constructor(store: Pick<Observe, 'limits' | 'receive'>, options: ObserveServerOptions) {
    const { credential, inFlightBytes = 256 * MIB, log = silentLog } = options
    this.#store = store
    this.#authorization = Buffer.from(`Bearer ${credential}`)
    this.#maxBodyBytes = store.limits.maxBodyBytes
    this.#inFlightBytes = inFlightBytes
    this.#log = log
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const encoding = encodingByType.get(mediaType(request))
    try {
      const body = await this.#take(request, encoding)
      response.writeHead(200, { 'Content-Type': contentTypes[encoding!] }).end(body)
    } catch (error) {
      if (request.destroyed && !request.complete) return
      const refusal = error instanceof Refusal ? error : unavailable('the embedded store failed')
      if (refusal !== error) {
        this.#log.error({ event: 'observe.request_failed', error: String(error) }, 'The embedded store failed')
      }
      const { status, code, message, headers } = refusal
      if (status === 413) this.#noteTooLarge(message)
      const retryDelayMs = status === 503 ? RETRY_AFTER_SECONDS * 1000 : undefined
      const answerIn = encoding ?? 'json'
      response.writeHead(status, { 'Content-Type': contentTypes[answerIn], ...headers })
      response.end(encodeRpcStatus({ code, message, retryDelayMs }, answerIn))
      // The rest of the body is read and discarded, because a sender that cannot finish reports a network failure.
      request.resume()
    }
  }

  async #take(request: IncomingMessage, encoding: Encoding | undefined): Promise<Uint8Array> {
    if (!this.#isGateway(request)) {
      const challenge = { 'WWW-Authenticate': 'Bearer realm="observe"' }
      throw new Refusal(401, GrpcCode.UNAUTHENTICATED, 'this server accepts requests from its gateway only', challenge)
    }
    const signal = signalByPath.get(request.url)
    if (signal === undefined && request.url !== profilesPath) {
      throw new Refusal(404, GrpcCode.UNIMPLEMENTED, 'the path is not an OTLP path')
    }
    if (request.method !== 'POST') {
      throw new Refusal(405, GrpcCode.UNIMPLEMENTED, 'only POST is served here', { Allow: 'POST' })
    }
    if (encoding === undefined) {
      throw new Refusal(415, GrpcCode.INVALID_ARGUMENT, `the media type is none of ${[...encodingByType.keys()]}`)
    }
    const coding = codingOf(request)
    const partialSuccess = await this.#withBody(request, (wire) =>
      signal === undefined
        ? this.#dropProfiles()
        : this.#keep({ signal, encoding, coding, wire, sender: request.headers['x-ingest-token-id']?.toString() }),
    )
    // The reply for profiles differs from that for traces only in the name of a counter, which is 0 and therefore omitted.
    return encodeExportResponse(signal ?? 'traces', partialSuccess, encoding)
  }

  #isGateway(request: IncomingMessage): boolean {
    const presented = Buffer.from(request.headers.authorization ?? '')
    return presented.length === this.#authorization.length && timingSafeEqual(presented, this.#authorization)
  }

  /** Logs at most one line a minute, because senders repeat bodies that are too large. */
  #noteTooLarge(reason: string): void {
    if (this.#isQuiet) return
    this.#isQuiet = true
    setTimeout(() => {
      this.#isQuiet = false
    }, LOG_EVERY_MS).unref()
    this.#log.warn(
      { event: 'observe.body_too_large', reason },
      'The embedded store refused a body with 413 because it is too large',
    )
  }

  async #dropProfiles(): Promise<PartialSuccess> {
    this.profilesDropped += 1
    return { rejected: 0n, message: 'the embedded store does not keep profiles' }
  }

  async #keep(received: Parameters<Observe['receive']>[0]): Promise<PartialSuccess | undefined> {
    const receipt = await this.#store.receive(received)
    switch (receipt.kind) {
      case 'kept':
        return receipt.partialSuccess
      case 'rejected':
        throw new Refusal(400, GrpcCode.INVALID_ARGUMENT, receipt.text)
      case 'too_large':
        throw tooLarge(receipt.text)
      case 'unavailable':
        throw unavailable(receipt.text)
    }
  }

  /**
   * Reads a body, and counts its bytes as waiting until the reply. The memory moves to another thread in the meantime,
   * but still belongs to this process.
   */
  async #withBody<Result>(
    request: IncomingMessage,
    use: (wire: Uint8Array<ArrayBuffer>) => Promise<Result>,
  ): Promise<Result> {
    if (Number(request.headers['content-length'] ?? 0) > this.#maxBodyBytes)
      throw tooLarge(tooLargeText(this.#maxBodyBytes))
    let taken = 0
    try {
      const parts: Uint8Array[] = []
      for await (const part of request.iterator({ destroyOnReturn: false })) {
        taken += part.length
        this.#bytesInFlight += part.length
        if (taken > this.#maxBodyBytes) throw tooLarge(tooLargeText(this.#maxBodyBytes))
        if (this.#bytesInFlight > this.#inFlightBytes) throw unavailable('too many bodies are in progress')
        parts.push(part)
      }
      return await use(joined(parts.splice(0), taken))
    } finally {
      this.#bytesInFlight -= taken
    }
  }
}

/** Copies the parts into a buffer of its own, which can move to another thread. */
function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function codingOf({ headers }: IncomingMessage): ContentCoding {
  const sent = headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const coding = codings.find((known) => known === sent)
  if (coding !== undefined) return coding
  const known = codings.join(', ')
  throw new Refusal(415, GrpcCode.INVALID_ARGUMENT, `the content encoding is none of ${known}`, {
    'Accept-Encoding': known,
  })
}

/** Returns the media type without parameters. */
const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
