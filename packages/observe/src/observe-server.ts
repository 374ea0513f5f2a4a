import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
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
import type { Observe } from './observe.ts'

export interface ObserveServerOptions {
  /** What has to be in `Authorization`, after `Bearer`: only the gateway may talk to this server. */
  readonly credential: string
  /** Of a body, as it arrives and inflated. Default 64 MiB. */
  readonly maxBodyBytes?: number
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

const profilesPath = '/v1development/profiles'
const signalByPath = new Map<string | undefined, Signal>(
  signalNames.map((signal) => [signals[signal].httpPath, signal]),
)
const encodingByType = new Map(Object.entries(contentTypes).map(([encoding, type]) => [type, encoding as Encoding]))

type Inflater = (body: Uint8Array, options: object) => Promise<unknown>
/** With `info`, zlib hands out its engine too; the types of Node do not say so. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** zlib's own failures have codes such as Z_DATA_ERROR. */
const inflaters = new Map<string, Inflater>([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
])

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

const tooLarge = () => new Refusal(413, GrpcCode.RESOURCE_EXHAUSTED, 'the body is too large')
const notInflatable = () => new Refusal(400, GrpcCode.INVALID_ARGUMENT, 'the body cannot be inflated')
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
export async function observeServer(store: Observe, options: ObserveServerOptions): Promise<ObserveServer> {
  const intake = new Intake(store, options)
  const address = { host: '127.0.0.1', port: 0 }
  const listening = await listen((request, response) => void intake.answer(request, response), address, {
    // All connections are those of the gateway and its workers.
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
  readonly #store: Observe
  readonly #authorization: Buffer
  readonly #maxBodyBytes: number
  readonly #inFlightBytes: number
  readonly #log: Log
  #bytesInFlight = 0
  #lastInflation: Promise<unknown> = Promise.resolve()

  constructor(store: Observe, options: ObserveServerOptions) {
    const { credential, maxBodyBytes = 64 * MIB, inFlightBytes = 256 * MIB, log = silentLog } = options
    this.#store = store
    this.#authorization = Buffer.from(`Bearer ${credential}`)
    this.#maxBodyBytes = maxBodyBytes
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
    const contentEncoding = request.headers['content-encoding']?.trim().toLowerCase() || 'identity'
    if (contentEncoding !== 'identity' && !inflaters.has(contentEncoding)) {
      const known = [...inflaters.keys(), 'identity'].join(', ')
      throw new Refusal(415, GrpcCode.INVALID_ARGUMENT, `the content encoding is none of ${known}`, {
        'Accept-Encoding': known,
      })
    }
    const partialSuccess = await this.#withBody(request, (wire) =>
      signal === undefined ? this.#dropProfiles() : this.#keep(signal, wire, contentEncoding, encoding),
    )
    // The answer for profiles differs from that for traces in its counter alone, which is 0 and so left out.
    return encodeExportResponse(signal ?? 'traces', partialSuccess, encoding)
  }

  #isGateway(request: IncomingMessage): boolean {
    const presented = Buffer.from(request.headers.authorization ?? '')
    return presented.length === this.#authorization.length && timingSafeEqual(presented, this.#authorization)
  }

  async #dropProfiles(): Promise<PartialSuccess> {
    this.profilesDropped += 1
    return { rejected: 0n, message: 'the embedded store does not keep profiles' }
  }

  async #keep(signal: Signal, wire: Uint8Array, contentEncoding: string, encoding: Encoding) {
    const inflater = inflaters.get(contentEncoding)
    const receipt =
      inflater === undefined
        ? await this.#store.receive(signal, wire, encoding)
        : await this.#inflated(wire, inflater, (body) => this.#store.receive(signal, body, encoding))
    switch (receipt.kind) {
      case 'kept':
        return receipt.partialSuccess
      case 'rejected':
        throw new Refusal(400, GrpcCode.INVALID_ARGUMENT, receipt.text)
      case 'unavailable':
        throw unavailable(receipt.text)
    }
  }

  /** One after the other: small bodies can be large ones inside, and only one of those is unpacked at a time. */
  async #inflated<Result>(
    wire: Uint8Array,
    inflater: Inflater,
    use: (body: Uint8Array) => Promise<Result>,
  ): Promise<Result> {
    const started = this.#lastInflation.then(async () => {
      const { buffer, engine } = (await inflater(wire, {
        maxOutputLength: this.#maxBodyBytes,
        info: true,
      })) as Inflated
      // zlib stops without a word at zeros behind a gzip member, or behind a deflate stream: the rest would be lost.
      if (engine.bytesWritten !== wire.length) throw notInflatable()
      return { result: use(buffer) }
    })
    this.#lastInflation = started.catch(() => {})
    try {
      return await (await started).result
    } catch (error) {
      if (error instanceof Refusal) throw error
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
      if (code?.startsWith('Z_')) throw notInflatable()
      throw error
    }
  }

  async #withBody<Result>(request: IncomingMessage, use: (wire: Uint8Array) => Promise<Result>): Promise<Result> {
    if (Number(request.headers['content-length'] ?? 0) > this.#maxBodyBytes) throw tooLarge()
    let taken = 0
    try {
      const parts: Uint8Array[] = []
      for await (const part of request.iterator({ destroyOnReturn: false })) {
        taken += part.length
        this.#bytesInFlight += part.length
        if (taken > this.#maxBodyBytes) throw tooLarge()
        if (this.#bytesInFlight > this.#inFlightBytes) throw unavailable('too many bodies are under way')
        parts.push(part)
      }
      return await use(parts.length === 1 ? parts[0]! : Buffer.concat(parts, taken))
    } finally {
      this.#bytesInFlight -= taken
    }
  }
}

/** Without parameters. */
const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
