import { connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { silentLog } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import type { Ingest } from '../admission/ingest.ts'
import type { Admission, AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import type { ExportCall } from '../contract/export-call.ts'
import type { ExportEnding } from '../contract/export-ending.ts'
import { defaultGatewayConfig, type TlsFiles } from '../contract/gateway-config.ts'
import type { Refusal } from '../contract/refusals.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { isOnFastPath } from './both-paths.harness.ts'
import { type HttpFrontConfig, httpFront } from './http-front.ts'
import { defaultListenerSettings, type Front, type ListenerSettings, openListener } from './listener.ts'

export const accepted: Answer = { kind: 'accepted', partialSuccess: undefined, body: undefined }
const admitted: Admitted = {
  admitted: true,
  token: undefined,
  auth: 'verified',
  wouldReject: undefined,
  warning: undefined,
  expiresAt: undefined,
  sample: undefined,
}

export interface SentCall {
  readonly call: ExportCall
  readonly body: Buffer
  /** The error of a stream that did not arrive completely. */
  readonly broken: Error | undefined
}

const noRoom: Refusal = { kind: 'overloaded', message: 'No room.', retryAfterSeconds: 3 }

/** An ingest that admits `Bearer good` and accepts every body. */
export class TestIngest implements Ingest {
  readonly admissionRequests: AdmissionRequest[] = []
  readonly sent: SentCall[] = []
  admitted: Admitted = admitted
  /** The length above which bodies are streamed. */
  bufferLimitBytes = 1024
  /** The length above which bodies of unknown length are streamed. */
  unknownLengthBufferLimitBytes = 0
  roomBytes = Number.POSITIVE_INFINITY
  reservedBytes = 0
  answer: (call: ExportCall, body: Buffer) => Answer | Promise<Answer> = () => accepted
  /** Consumes a stream; reads all of it by default. */
  readStream: (body: Readable) => Promise<Buffer> = readAll
  readonly #watchers: { readonly count: number; resolve(): void }[] = []
  #onAdmissionRequested = () => {}

  admit(admissionRequest: AdmissionRequest): Admission {
    this.admissionRequests.push(admissionRequest)
    this.#onAdmissionRequested()
    const { credential } = admissionRequest
    if (credential.kind === 'bearer' && credential.value === 'good') return this.admitted
    const challenge = credential.kind === 'none' ? 'Bearer realm="otlp"' : 'Bearer realm="otlp", error="invalid_token"'
    const refusal: Refusal = { kind: 'unauthenticated', message: 'The ingest token is not valid.', challenge }
    return { admitted: false, refusal }
  }

  recordWrongPath(): void {}

  maxBufferedBytes({ declaredBytes }: ExportCall): number {
    return declaredBytes === undefined ? this.unknownLengthBufferLimitBytes : this.bufferLimitBytes
  }

  refusalBeforeBody({ declaredBytes = 0 }: ExportCall): Refusal | undefined {
    return this.reservedBytes + declaredBytes > this.roomBytes ? noRoom : undefined
  }

  reserveArrived(call: ExportCall, bytes: number): Refusal | undefined {
    return this.reserve(call, bytes)
  }

  bodyEnded(): void {}

  reserve(call: ExportCall, bytes: number): Refusal | undefined {
    if (this.reservedBytes + bytes > this.roomBytes) return noRoom
    this.reservedBytes += bytes
    call.reservedBytes += bytes
    return undefined
  }

  abandon(call: ExportCall): void {
    this.reservedBytes -= call.reservedBytes
    call.reservedBytes = 0
  }

  async sendBuffered(call: ExportCall, body: Uint8Array): Promise<Answer> {
    return this.#send(call, Buffer.from(body), undefined)
  }

  async sendStream(call: ExportCall, body: Readable): Promise<Answer> {
    try {
      return await this.#send(call, await this.readStream(body), undefined)
    } catch (error) {
      return this.#send(call, Buffer.alloc(0), error as Error)
    }
  }

  /** Resolves when admission of a request has been requested. */
  async untilAdmissionRequested(): Promise<void> {
    if (this.admissionRequests.length > 0) return
    await new Promise<void>((resolve) => {
      this.#onAdmissionRequested = resolve
    })
  }

  async untilSent(count: number): Promise<void> {
    if (this.sent.length >= count) return
    await new Promise<void>((resolve) => this.#watchers.push({ count, resolve }))
  }

  async #send(call: ExportCall, body: Buffer, broken: Error | undefined): Promise<Answer> {
    this.sent.push({ call, body, broken })
    for (const watcher of this.#watchers) if (watcher.count <= this.sent.length) watcher.resolve()
    try {
      return await this.answer(call, body)
    } finally {
      this.abandon(call)
    }
  }
}

export async function readAll(body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

export interface TestFrontOptions {
  readonly config?: Partial<HttpFrontConfig>
  readonly settings?: Partial<ListenerSettings>
  readonly tls?: TlsFiles
  readonly grpc?: Pick<Front, 'onHttp2'>
  readonly ingest?: TestIngest
  readonly random?: () => number
  readonly idleBodyTimeoutMs?: number
  /** The port to listen on; any free port by default. */
  readonly port?: number
}

/** Starts the front on a real port, with a manual clock. */
export async function startFront(options: TestFrontOptions = {}) {
  const ingest = options.ingest ?? new TestIngest()
  const clock = new ManualClock(1_000_000)
  const metrics = new MetricRegistry()
  const endings: ExportEnding[] = []
  const state = { isReady: true, clientsAborted: 0 }
  const random = options.random ?? (() => 0.5)
  const http = httpFront(
    { ...defaultGatewayConfig, ...options.config },
    {
      ingest,
      clock,
      random,
      log: silentLog,
      observer: {
        ended: (ending) => endings.push(ending),
        clientAborted: () => {
          state.clientsAborted += 1
        },
      },
      isReady: () => state.isReady,
    },
    options.idleBodyTimeoutMs ?? 15_000,
  )
  const listener = await openListener(
    { address: { host: '127.0.0.1', port: options.port ?? 0 }, ...(options.tls && { tls: options.tls }) },
    { http, grpc: options.grpc ?? http },
    { ...defaultListenerSettings, fastPath: isOnFastPath(), ...options.settings },
    { clock, random, log: silentLog, metrics },
  )
  const { port } = listener.address
  return { ingest, clock, metrics, endings, state, listener, port, url: `http://127.0.0.1:${port}` }
}
export type TestFront = Awaited<ReturnType<typeof startFront>>

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** An HTTP/1 client that sends raw bytes. */
export class RawClient {
  readonly socket: Socket
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
  #received = Buffer.alloc(0)
  #isOver = false
  #wake = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (piece) => {
      this.#received = Buffer.concat([this.#received, piece])
      this.#wake()
    })
    socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      const onOver = () => {
        this.#isOver = true
        this.#wake()
        resolve()
      }
      socket.on('end', onOver)
      socket.on('close', onOver)
    })
  }

  static async open(port: number, options: { readonly secure?: boolean } = {}): Promise<RawClient> {
    const socket = options.secure
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect({ port, host: '127.0.0.1', noDelay: true })
    const client = new RawClient(socket)
    await new Promise((resolve, reject) => {
      socket.once(options.secure ? 'secureConnect' : 'connect', resolve)
      socket.once('error', reject)
    })
    return client
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes)
    return this
  }

  /** Returns the next reply. Rejects if the server closes the connection before it is complete. */
  async reply(): Promise<RawReply> {
    const headEnd = await this.#until(() => this.#received.indexOf('\r\n\r\n'))
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, headEnd).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const end = headEnd + 4 + Number(headers['content-length'] ?? 0)
    await this.#until(() => (this.#received.length >= end ? 0 : -1))
    const body = Buffer.from(this.#received.subarray(headEnd + 4, end))
    this.#received = this.#received.subarray(end)
    return { status: Number(statusLine.split(' ')[1]), headers, body }
  }

  close(): void {
    this.socket.destroy()
  }

  async #until(found: () => number): Promise<number> {
    for (;;) {
      const at = found()
      if (at >= 0) return at
      if (this.#isOver) throw new Error(`closed after ${JSON.stringify(this.#received.toString('latin1'))}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

/**
 * Returns the head of a request. `lines` add to or replace Host, credential and media type; an empty value removes one.
 */
export function head(lines: Readonly<Record<string, string>> = {}, target = '/v1/traces', method = 'POST'): string {
  const all = { host: 'gateway', authorization: 'Bearer good', 'content-type': 'application/x-protobuf', ...lines }
  return `${method} ${target} HTTP/1.1\r\n${Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

/** Returns a complete POST request with a Content-Length. */
export function post(body: string | Uint8Array, lines: Readonly<Record<string, string>> = {}, target?: string): Buffer {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(head({ 'content-length': String(bytes.length), ...lines }, target)), bytes])
}

export function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

export const json = { 'content-type': 'application/json' }

/** The front of the running test, closed at its end. */
export let front: TestFront

export async function start(options?: TestFrontOptions): Promise<void> {
  const started = await startFront(options)
  onTestFinished(() => started.listener.close())
  front = started
}

/** Opens a connection to `front`, and closes it at the end of the test. */
export async function open(options?: { secure: boolean }): Promise<RawClient> {
  const client = await RawClient.open(front.port, options)
  onTestFinished(() => client.close())
  return client
}

export const ask = async (bytes: string | Uint8Array): Promise<RawReply> => (await open()).send(bytes).reply()
