import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { gzipSync } from 'node:zlib'
import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import {
  contentTypes,
  decodeExportResponse,
  decodeRpcStatus,
  type Encoding,
  type PartialSuccess,
  type Signal,
} from '@penstock/otlp'
import { exportBody, type Telemetry } from './telemetry.ts'

export const clientKinds = ['HTTP protobuf', 'HTTP JSON', 'gRPC'] as const
export type ClientKind = (typeof clientKinds)[number]

export interface Export extends Telemetry {
  readonly token?: string
  /** Instead of what `Telemetry` says; sent as it is. */
  readonly body?: Uint8Array
  readonly gzip?: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** gRPC: the client's deadline, and the `grpc-timeout` it sends. */
  readonly deadlineMs?: number
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string }
}

/** What a client has been told. */
export interface Told {
  /** HTTP status, or gRPC code. */
  readonly code: number
  /** Of the Status in the reply, or of gRPC's trailers. */
  readonly message: string
  /** Code within the Status of an HTTP reply. */
  readonly statusCode: number | undefined
  /** Retry-After as it stands there, or seconds of RetryInfo. */
  readonly retryAfter: string | undefined
  readonly partial: PartialSuccess | undefined
  /** Of the reply; over gRPC its initial metadata. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Exports once, over a connection of its own. */
export function exportOnce(port: number, kind: ClientKind, given: Export = {}): Promise<Told> {
  return kind === 'gRPC' ? exportOverGrpc(port, given) : exportOverHttp(port, kind, given)
}

async function exportOverHttp(port: number, kind: ClientKind, given: Export): Promise<Told> {
  const { signal = 'traces', token, gzip = false, headers = {}, tls } = given
  const encoding: Encoding = kind === 'HTTP JSON' ? 'json' : 'protobuf'
  const plain = given.body ?? exportBody(given, encoding)
  const body = gzip ? gzipSync(plain) : plain
  const options: RequestOptions = {
    host: '127.0.0.1',
    port,
    path: `/v1/${signal}`,
    method: 'POST',
    agent: false,
    headers: {
      'content-type': contentTypes[encoding],
      ...(!('transfer-encoding' in headers) && { 'content-length': body.length }),
      ...(gzip && { 'content-encoding': 'gzip' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(tls && { ...tls, servername: 'localhost' }),
  }
  const reply = await new Promise<{ code: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const request = (tls ? httpsRequest : httpRequest)(options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ code: response.statusCode!, headers: response.headers, body: Buffer.concat(parts) }),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
  const said = reply.headers['content-type'] === contentTypes.json ? 'json' : 'protobuf'
  const status = reply.code === 200 ? undefined : decodeRpcStatus(reply.body, said)
  return {
    ...reply,
    message: status?.message ?? '',
    statusCode: status?.code,
    retryAfter: reply.headers['retry-after'],
    partial: reply.code === 200 ? decodeExportResponse(signal, reply.body, said) : undefined,
  }
}

const servicePaths: Readonly<Record<Signal, string>> = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
}
const GZIP = 2

async function exportOverGrpc(port: number, given: Export): Promise<Told> {
  const { tls } = given
  const client = grpcClient(
    port,
    tls
      ? credentials.createSsl(
          Buffer.from(tls.ca),
          tls.key ? Buffer.from(tls.key) : null,
          tls.cert ? Buffer.from(tls.cert) : null,
        )
      : credentials.createInsecure(),
    given.gzip,
  )
  try {
    return await exportWith(client, given)
  } finally {
    client.close()
  }
}

/** A channel of its own; `exportWith` may use it again and again. */
export function grpcClient(
  port: number,
  trust: ChannelCredentials = credentials.createInsecure(),
  gzip = false,
): Client {
  return new Client(`localhost:${port}`, trust, {
    'grpc.use_local_subchannel_pool': 1,
    ...(gzip && { 'grpc.default_compression_algorithm': GZIP }),
  })
}

export async function exportWith(client: Client, given: Export): Promise<Told> {
  const { signal = 'traces', token, headers = {}, deadlineMs = 20_000 } = given
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  const options: CallOptions = { deadline: Date.now() + deadlineMs }
  const identity = (bytes: Buffer) => bytes
  const body = Buffer.from(given.body ?? exportBody(given, 'protobuf'))
  return await new Promise((resolve) => {
    let first: IncomingHttpHeaders = {}
    const call = client.makeUnaryRequest(
      servicePaths[signal],
      identity,
      identity,
      body,
      metadata,
      options,
      (error: ServiceError | null, reply?: Buffer) => {
        const details = error?.metadata.get('grpc-status-details-bin')[0] as Buffer | undefined
        const delayMs = details && decodeRpcStatus(details, 'protobuf').retryDelayMs
        resolve({
          code: error?.code ?? 0,
          message: error?.details ?? '',
          statusCode: details && decodeRpcStatus(details, 'protobuf').code,
          retryAfter: delayMs === undefined ? undefined : String(delayMs / 1_000),
          partial: reply && decodeExportResponse(signal, reply, 'protobuf'),
          headers: first,
          body: reply ?? Buffer.alloc(0),
        })
      },
    )
    call.on('metadata', (received) => {
      first = received.getMap() as IncomingHttpHeaders
    })
  })
}

/** What a success is called. */
export const okCode: Readonly<Record<ClientKind, number>> = { 'HTTP protobuf': 200, 'HTTP JSON': 200, gRPC: 0 }
