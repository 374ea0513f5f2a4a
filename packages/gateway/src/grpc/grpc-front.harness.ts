import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { decodeRpcStatus } from '@penstock/otlp'
import { type Clock, silentLog, systemClock } from '@penstock/runtime'
import { onTestFinished } from 'vitest'
import type { Ingest } from '../admission/ingest.ts'
import type { Admission, AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import type { ExportCall } from '../contract/export-call.ts'
import type { ExportEnding } from '../contract/export-ending.ts'
import type { InflatedSizeInspection } from '../contract/gateway-config.ts'
import type { Refusal } from '../contract/refusals.ts'
import { HeadReader } from '../http/http-headers.ts'
import { isOnFastPath } from '../ingest/both-paths.harness.ts'
import {
  defaultListenerSettings,
  type Front,
  type Listener,
  type ListenerSettings,
  openListener,
} from '../ingest/listener.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { GrpcFront } from './grpc-front.ts'
import { GrpcHealth, type GrpcHealthSettings } from './grpc-health.ts'
import { RawClient } from './grpc-raw-client.harness.ts'

export const accepted: Answer = { kind: 'accepted', partialSuccess: undefined, body: undefined }

export const admittedWithoutToken: Admitted = {
  admitted: true,
  token: undefined,
  auth: 'off',
  wouldReject: undefined,
  warning: undefined,
  expiresAt: undefined,
  sample: undefined,
}

/** An ingest with scripted answers that records its calls. */
export class ScriptedIngest implements Ingest {
  readonly admissionRequests: AdmissionRequest[] = []
  readonly calls: ExportCall[] = []
  readonly bodies: Buffer[] = []
  readonly problems: Error[] = []
  reservedBytes = 0
  admission: Admission = admittedWithoutToken
  buffersBodies = true
  noRoom: Refusal | undefined
  answer: (call: ExportCall, body: Buffer) => Answer | Promise<Answer> = () => accepted
  readonly #watchers: (() => void)[] = []

  admit(admissionRequest: AdmissionRequest): Admission {
    this.admissionRequests.push(admissionRequest)
    return this.admission
  }

  recordWrongPath(): void {}

  maxBufferedBytes(): number {
    return this.buffersBodies ? Number.POSITIVE_INFINITY : 0
  }

  refusalBeforeBody(): Refusal | undefined {
    return this.noRoom
  }

  reserveArrived(call: ExportCall, bytes: number): Refusal | undefined {
    return this.reserve(call, bytes)
  }

  bodyEnded(): void {}

  reserve(call: ExportCall, bytes: number): Refusal | undefined {
    if (this.noRoom !== undefined) return this.noRoom
    call.reservedBytes += bytes
    this.reservedBytes += bytes
    return undefined
  }

  abandon(call: ExportCall): void {
    this.reservedBytes -= call.reservedBytes
  }

  sendBuffered(call: ExportCall, body: Uint8Array): Promise<Answer> {
    return this.#send(call, Promise.resolve(Buffer.from(body)))
  }

  sendStream(call: ExportCall, body: Readable): Promise<Answer> {
    return this.#send(call, buffer(body))
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  tell(): void {
    for (const resolve of this.#watchers.splice(0)) resolve()
  }

  async #send(call: ExportCall, arriving: Promise<Buffer>): Promise<Answer> {
    this.calls.push(call)
    this.tell()
    try {
      const body = await arriving
      this.bodies.push(body)
      this.tell()
      return await this.answer(call, body)
    } catch (error) {
      this.problems.push(error as Error)
      return accepted
    } finally {
      this.abandon(call)
      this.tell()
    }
  }
}

export interface Harness {
  readonly ingest: ScriptedIngest
  readonly front: GrpcFront
  readonly health: GrpcHealth
  readonly listener: Listener
  readonly endings: ExportEnding[]
  readonly aborted: { count: number }
  readonly address: string
  readonly port: number
}

/** Starts the front behind a real listener. */
export async function startFront(
  options: {
    clock?: Clock
    listenerClock?: Clock
    maxBodyBytes?: number
    inspectInflatedSize?: InflatedSizeInspection
    health?: GrpcHealthSettings
    ingest?: Ingest
    settings?: Partial<ListenerSettings>
  } = {},
): Promise<Harness> {
  const ingest = new ScriptedIngest()
  const clock = options.clock ?? systemClock
  const health = new GrpcHealth(true, options.health)
  const endings: ExportEnding[] = []
  const aborted = { count: 0 }
  const front = new GrpcFront(
    {
      ingest: options.ingest ?? ingest,
      health,
      clock,
      random: () => 0.5,
      log: silentLog,
      observer: {
        ended: (ending) => endings.push(ending),
        clientAborted: () => {
          aborted.count += 1
          ingest.tell()
        },
      },
      headReader: new HeadReader({ credentialSources: [], passCredentialThrough: false }),
    },
    {
      maxBodyBytes: options.maxBodyBytes ?? 64 * 1024 * 1024,
      inspectInflatedSize: options.inspectInflatedSize ?? 'unauthenticated',
      idleBodyTimeoutMs: 15_000,
    },
  )
  const listener = await openListener(
    { address: { host: '127.0.0.1', port: 0 } },
    { grpc: front, http: noHttp },
    { ...defaultListenerSettings, fastPath: isOnFastPath(), ...options.settings },
    { clock: options.listenerClock ?? systemClock, random: () => 0.5, log: silentLog, metrics: new MetricRegistry() },
  )
  const { port } = listener.address
  return { ingest, front, health, listener, endings, aborted, port, address: `127.0.0.1:${port}` }
}

const noHttp: Front = {
  onHttp1: (_, response) => response.end(),
  fastRequests: () => ({
    servesPath: () => false,
    begin() {
      throw new Error('No path is served.')
    },
  }),
  onHttp2: (stream) => stream.close(),
}

export const tracesExport = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

export interface UnaryReply {
  readonly code: number
  readonly details: string
  readonly message: Buffer | undefined
  readonly trailers: Metadata
}

/** A client built on grpc-js, independent of the code under test. */
export class GrpcClient {
  readonly #client: Client

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 })
  }

  unary(
    message: Uint8Array,
    options: { path?: string; metadata?: Record<string, string>; timeoutMs?: number } = {},
  ): Promise<UnaryReply> {
    const metadata = new Metadata()
    for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value)
    const deadline = options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs }
    return new Promise((resolve) => {
      let message_: Buffer | undefined
      let failure: ServiceError | undefined
      const call = this.#client.makeUnaryRequest(
        options.path ?? tracesExport,
        (value: Buffer) => value,
        (value: Buffer) => value,
        Buffer.from(message),
        metadata,
        deadline,
        (error, reply) => {
          failure = error ?? undefined
          message_ = reply
        },
      )
      call.on('status', (status) => {
        resolve({ code: status.code, details: failure?.details ?? '', message: message_, trailers: status.metadata })
      })
    })
  }

  close(): void {
    this.#client.close()
  }
}

/** Starts a front and a client, and closes both at the end of the test. */
export async function start(options: Parameters<typeof startFront>[0] = {}): Promise<Harness & { client: GrpcClient }> {
  const harness = await startFront(options)
  const client = new GrpcClient(harness.address)
  onTestFinished(() => harness.listener.close())
  onTestFinished(() => client.close())
  return { ...harness, client }
}

/** Opens a raw client, and closes it at the end of the test. */
export async function raw({ port }: Harness): Promise<RawClient> {
  const client = await RawClient.connect(port)
  onTestFinished(() => client.close())
  return client
}

/** Returns the delay that a reply asks for, or `undefined` if it has none. */
export function retryDelayOf({ trailers }: UnaryReply): number | undefined {
  const [details] = trailers.get('grpc-status-details-bin')
  return details === undefined ? undefined : decodeRpcStatus(details as Buffer, 'protobuf').retryDelayMs
}
