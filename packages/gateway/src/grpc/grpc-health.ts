import { GrpcCode } from '@penstock/otlp'
import { ingestSignalNames, ingestSignals } from '../contract/signals.ts'
import type { Http2Stream } from '../http2/http2-stream.ts'
import { frame, PREFIX_BYTES } from '../wire/grpc-wire.ts'
import { beforeTrailers, type GrpcError, sendError, sendMessage } from './grpc-answer.ts'

const MAX_REQUEST_BYTES = 1_024
/** The highest number of Watch streams of all connections together. */
const MAX_WATCHERS = 1_000

/** The values of HealthCheckResponse.ServingStatus. */
const SERVING = 1
const NOT_SERVING = 2
const SERVICE_UNKNOWN = 3

/** The known services; '' is the server as a whole. All have the same status. */
const services = new Set([
  '',
  'grpc.health.v1.Health',
  ...ingestSignalNames.map((signal) => serviceOf(ingestSignals[signal].grpcMethod)),
])

export interface GrpcHealthSettings {
  /** Whether Check answers code 14 instead of NOT_SERVING, for load balancers that do not read the message. */
  readonly notServingIsError: boolean
}

/**
 * Serves grpc.health.v1.Health without authentication.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export class GrpcHealth {
  readonly #settings: GrpcHealthSettings
  readonly #watchers = new Set<Http2Stream>()
  /** Streams that watch an unknown service. */
  readonly #unknownServiceWatchers = new Set<Http2Stream>()
  #isServing: boolean

  constructor(isServing: boolean, settings: GrpcHealthSettings = { notServingIsError: false }) {
    this.#isServing = isServing
    this.#settings = settings
  }

  /** Sets the status and sends it to all watchers. */
  setServing(isServing: boolean): void {
    if (isServing === this.#isServing) return
    this.#isServing = isServing
    for (const stream of this.#watchers) stream.write(statusFrame(this.#status))
  }

  /** Ends every watch with code 14, so that connections can end. */
  endWatches(): void {
    for (const stream of [...this.#watchers, ...this.#unknownServiceWatchers]) stream.end()
  }

  /** Answers the call and returns true if the path is one of the health service; otherwise returns false. */
  handle(stream: Http2Stream, path: string): boolean {
    const method = methods[path]
    if (method === undefined) return false
    readRequest(stream, (message) => {
      const service = message && serviceIn(message)
      if (service === undefined) sendError(stream, invalid)
      else this.#answer(stream, method, service)
    })
    return true
  }

  get #status(): number {
    return this.#isServing ? SERVING : NOT_SERVING
  }

  #answer(stream: Http2Stream, method: Method, service: string): void {
    if (method === 'List') sendMessage(stream, listFrame(this.#status))
    else if (method === 'Watch') this.#watch(stream, service)
    else if (!services.has(service)) sendError(stream, unknownService)
    else if (!this.#isServing && this.#settings.notServingIsError) sendError(stream, notServing)
    else sendMessage(stream, statusFrame(this.#status))
  }

  /**
   * Keeps the stream open until the client or the connection ends, also for unknown services, as the protocol demands.
   */
  #watch(stream: Http2Stream, service: string): void {
    if (stream.destroyed) return
    if (this.#watchers.size + this.#unknownServiceWatchers.size >= MAX_WATCHERS) {
      sendError(stream, tooManyWatchers)
      return
    }
    const isKnown = services.has(service)
    const watchers = isKnown ? this.#watchers : this.#unknownServiceWatchers
    watchers.add(stream)
    stream.once('close', () => watchers.delete(stream))
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '14', 'grpc-message': 'draining' }))
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, beforeTrailers)
    stream.write(statusFrame(isKnown ? this.#status : SERVICE_UNKNOWN))
  }
}

const error = (code: number, message: string): GrpcError => ({ code, message, retryDelayMs: undefined })
const invalid = error(GrpcCode.INVALID_ARGUMENT, 'not one message with a HealthCheckRequest')
const unknownService = error(GrpcCode.NOT_FOUND, 'unknown service')
const notServing = error(GrpcCode.UNAVAILABLE, 'not serving')
const tooManyWatchers = error(GrpcCode.RESOURCE_EXHAUSTED, 'too many watchers')

type Method = 'Check' | 'Watch' | 'List'
const methods: Readonly<Record<string, Method>> = {
  '/grpc.health.v1.Health/Check': 'Check',
  '/grpc.health.v1.Health/Watch': 'Watch',
  '/grpc.health.v1.Health/List': 'List',
}

/** Returns `package.Service` of a path `/package.Service/Method`. */
function serviceOf(path: string): string {
  return path.slice(1, path.lastIndexOf('/'))
}

/**
 * Passes the message without its prefix to `then`; `undefined` if there is not exactly one message or it is too long.
 */
function readRequest(stream: Http2Stream, then: (message: Uint8Array | undefined) => void): void {
  let parts: Buffer = Buffer.alloc(0)
  stream.on('data', (part: Buffer) => {
    if (parts.length + part.length <= MAX_REQUEST_BYTES) parts = Buffer.concat([parts, part])
    else sendError(stream, invalid)
  })
  stream.once('end', () => {
    if (stream.aborted || stream.destroyed || stream.headersSent) return
    const isOne =
      parts.length >= PREFIX_BYTES && parts[0] === 0 && parts.readUInt32BE(1) === parts.length - PREFIX_BYTES
    then(isOne ? parts.subarray(PREFIX_BYTES) : undefined)
  })
}

/**
 * Returns field 1 of a HealthCheckRequest. All known names are shorter than 128 bytes, so their length takes one byte.
 */
function serviceIn(message: Uint8Array): string | undefined {
  if (message.length === 0) return ''
  const isName = message[0] === 0x0a && message[1] === message.length - 2
  if (isName) return Buffer.from(message.subarray(2)).toString()
  return message[0] === 0x0a && message.length > 130 ? 'a name that is too long' : undefined
}

function statusFrame(status: number): Uint8Array {
  return frame(Uint8Array.of(0x08, status), false)
}

/** Encodes a HealthListResponse: map<string, HealthCheckResponse> statuses = 1. */
function listFrame(status: number): Uint8Array {
  const entries = [...services].map((service) => {
    const name = Buffer.from(service)
    const entry = Buffer.concat([Uint8Array.of(0x0a, name.length), name, Uint8Array.of(0x12, 2, 0x08, status)])
    return Buffer.concat([Uint8Array.of(0x0a, entry.length), entry])
  })
  return frame(Buffer.concat(entries), false)
}
