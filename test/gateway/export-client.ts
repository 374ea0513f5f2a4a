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
  /** Sent unchanged, instead of the body that the fields of `Telemetry` describe. */
  readonly body?: Uint8Array
  readonly gzip?: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** The client's deadline over gRPC, and the `grpc-timeout` that it sends. */
  readonly deadlineMs?: number
  readonly tls?: { readonly ca: string; readonly cert?: string; readonly key?: string }
}

/** The reply that a client received. */
export interface ExportReply {
  /** The HTTP status, or the gRPC code. */
  readonly code: number
  /** The message of the Status in the reply, or of the gRPC trailers. */
  readonly message: string
  /** The code in the Status of an HTTP reply. */
  readonly statusCode: number | undefined
  /** The text of Retry-After, or the seconds of RetryInfo. */
  readonly retryAfter: string | undefined
  readonly partial: PartialSuccess | undefined
  /** The headers of the reply; over gRPC its initial metadata. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Exports once over a new connection. */
export function exportOnce(port: number, kind: ClientKind, options: Export = {}): Promise<ExportReply> {
  return kind === 'gRPC' ? exportOverGrpc(port, options) : exportOverHttp(port, kind, options)
}

async function exportOverHttp(port: number, kind: ClientKind, options: Export): Promise<ExportReply> {
  const { signal = 'traces', token, gzip = false, headers = {}, tls } = options
  const encoding: Encoding = kind === 'HTTP JSON' ? 'json' : 'protobuf'
  const plain = options.body ?? exportBody(options, encoding)
  const body = gzip ? gzipSync(plain) : plain
  const requestOptions: RequestOptions = {
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
    const request = (tls ? httpsRequest : httpRequest)(requestOptions, (response) => {
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
  const replyEncoding = reply.headers['content-type'] === contentTypes.json ? 'json' : 'protobuf'
  const status = reply.code === 200 ? undefined : decodeRpcStatus(reply.body, replyEncoding)
  return {
    ...reply,
    message: status?.message ?? '',
    statusCode: status?.code,
    retryAfter: reply.headers['retry-after'],
    partial: reply.code === 200 ? decodeExportResponse(signal, reply.body, replyEncoding) : undefined,
  }
}

const servicePaths: Readonly<Record<Signal, string>> = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
}
const GZIP = 2

async function exportOverGrpc(port: number, options: Export): Promise<ExportReply> {
  const { tls } = options
  const client = grpcClient(
    port,
    tls
      ? credentials.createSsl(
          Buffer.from(tls.ca),
          tls.key ? Buffer.from(tls.key) : null,
          tls.cert ? Buffer.from(tls.cert) : null,
        )
      : credentials.createInsecure(),
    options.gzip,
  )
  try {
    return await exportWith(client, options)
  } finally {
    client.close()
  }
}

/** Creates a client with its own channel. `exportWith` may use it repeatedly. */
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

export async function exportWith(client: Client, options: Export): Promise<ExportReply> {
  const { signal = 'traces', token, headers = {}, deadlineMs = 60_000 } = options
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  const callOptions: CallOptions = { deadline: Date.now() + deadlineMs }
  const identity = (bytes: Buffer) => bytes
  const body = Buffer.from(options.body ?? exportBody(options, 'protobuf'))
  return await new Promise((resolve) => {
    let initialMetadata: IncomingHttpHeaders = {}
    const call = client.makeUnaryRequest(
      servicePaths[signal],
      identity,
      identity,
      body,
      metadata,
      callOptions,
      (error: ServiceError | null, reply?: Buffer) => {
        const details = error?.metadata.get('grpc-status-details-bin')[0] as Buffer | undefined
        const delayMs = details && decodeRpcStatus(details, 'protobuf').retryDelayMs
        resolve({
          code: error?.code ?? 0,
          message: error?.details ?? '',
          statusCode: details && decodeRpcStatus(details, 'protobuf').code,
          retryAfter: delayMs === undefined ? undefined : String(delayMs / 1_000),
          partial: reply && decodeExportResponse(signal, reply, 'protobuf'),
          headers: initialMetadata,
          body: reply ?? Buffer.alloc(0),
        })
      },
    )
    call.on('metadata', (received) => {
      initialMetadata = received.getMap() as IncomingHttpHeaders
    })
  })
}

/** The code of a successful export. */
export const okCode: Readonly<Record<ClientKind, number>> = { 'HTTP protobuf': 200, 'HTTP JSON': 200, gRPC: 0 }
