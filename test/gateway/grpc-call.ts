import { once } from 'node:events'
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'

/** Wraps a message in the five-byte frame of gRPC, uncompressed. */
export function grpcFrame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

export function openGrpcCall(session: ClientHttp2Session, path: string, message: Uint8Array, token?: string) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  })
  stream.end(grpcFrame(message))
  return stream
}

/** Returns the gRPC code from the trailers, or from a response that consists of trailers only. */
export async function grpcStatusOf(stream: ClientHttp2Stream): Promise<number> {
  let status: unknown
  const readStatus = (headers: IncomingHttpHeaders) => {
    status ??= headers['grpc-status']
  }
  stream.on('response', readStatus).on('trailers', readStatus).resume()
  await once(stream, 'close')
  return Number(status)
}

export const EXPORT_TRACES = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
export const WATCH_HEALTH = '/grpc.health.v1.Health/Watch'
