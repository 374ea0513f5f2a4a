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
import { type ContentCoding, tooLargeText } from './delivery.ts'
import type { Observe } from './observe.ts'

export interface ObserveServerOptions {
  /** What has to be in `Authorization`, after `Bearer`: only the gateway may talk to this server. */
  readonly credential: string
  /** Of all bodies being read together. Default 256 MiB. */
  readonly inFlightBytes?: number
  readonly log?: Log
}

export interface ObserveServer extends Listening {
  /** Requests with profiles so far: they are accepted and not kept. */
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

/** A request that ends here. */
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
 * OTLP/HTTP into the store, on a loopback port of its own: the gateway's upstream where none is set.
 *
 * A 200 means that the data is on disk. Profiles are accepted and dropped, and the answer says so: a 404 would look to
 * the gateway like an upstream that is no OTLP receiver.
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
      // What is still to come is read and thrown away: a sender that cannot finish takes it for a network fault.
      request.resume()
    }
  }

  async #take(request: IncomingMessage, encoding: Encoding | undefined): Promise<Uint8Array> {
    if (!this.#isGateway(request)) {
      const challenge = { 'WWW-Authenticate': 'Bearer realm="observe"' }
      throw new Refusal(401, GrpcCode.UNAUTHENTICATED, 'this server belongs to its gateway', challenge)
    }
    const signal = signalByPath.get(request.url)
    if (signal === undefined && request.url !== profilesPath) {
      throw new Refusal(404, GrpcCode.UNIMPLEMENTED, 'no OTLP path')
    }
    if (request.method !== 'POST') {
      throw new Refusal(405, GrpcCode.UNIMPLEMENTED, 'only POST is served here', { Allow: 'POST' })
    }
    if (encoding === undefined) {
      throw new Refusal(415, GrpcCode.INVALID_ARGUMENT, `the media type is none of ${[...encodingByType.keys()]}`)
    }
    const coding = codingOf(request)
    const partialSuccess = await this.#withBody(request, (wire) =>
      signal === undefined ? this.#dropProfiles() : this.#keep({ signal, encoding, coding, wire }),
    )
    // The answer for profiles differs from that for traces in its counter alone, which is 0 and so left out.
    return encodeExportResponse(signal ?? 'traces', partialSuccess, encoding)
  }

  #isGateway(request: IncomingMessage): boolean {
    const presented = Buffer.from(request.headers.authorization ?? '')
    return presented.length === this.#authorization.length && timingSafeEqual(presented, this.#authorization)
  }

  /** At most one line a minute: senders repeat what does not fit. */
  #noteTooLarge(reason: string): void {
    if (this.#isQuiet) return
    this.#isQuiet = true
    setTimeout(() => {
      this.#isQuiet = false
    }, LOG_EVERY_MS).unref()
    this.#log.warn({ event: 'observe.body_too_large', reason }, 'the embedded store refused a body with 413')
  }

  async #dropProfiles(): Promise<PartialSuccess> {
    this.profilesDropped += 1
    return { rejected: 0n, message: 'the embedded store does not keep profiles' }
  }

  async #keep(delivery: Parameters<Observe['receive']>[0]): Promise<PartialSuccess | undefined> {
    const receipt = await this.#store.receive(delivery)
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

  /** Counts a body until its answer is known: its memory moves to another thread, but stays in the process. */
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
        if (this.#bytesInFlight > this.#inFlightBytes) throw unavailable('too many bodies are under way')
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

/** Without parameters. */
const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
