import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { decodeRequest, GrpcCode, OtlpDecodeError, type RequestEncoder, type Signal } from '@penstock/otlp'
import type { Refused } from '../ingest/answer.ts'
import type { UpstreamRequest } from './upstream.ts'

/** A request's body as one gRPC message in protobuf. */
export interface MessageBody {
  readonly body: Uint8Array | Readable
  readonly bytes: number
  /** '' is identity. */
  readonly contentEncoding: string
}

export interface BodyLimits {
  /** Of a body that has to be held: of unknown length, or to be encoded anew. Of its inflated form too. */
  readonly heldBytes: number
}

const gunzipped = promisify(gunzip)

/**
 * Protobuf goes as it is, its length only must be known beforehand. JSON is decoded and encoded anew, which no model of
 * ours can do for profiles.
 *
 * `undefined`: the stream failed before its end, so there is nobody left to tell.
 */
export async function heldMessage(
  request: UpstreamRequest,
  limits: BodyLimits,
  encoder: RequestEncoder,
): Promise<MessageBody | Refused | undefined> {
  const { signal, encoding, contentEncoding, body } = request
  if (encoding === 'json' && signal === 'profiles') {
    return refusal(415, GrpcCode.UNIMPLEMENTED, 'profiles in JSON cannot be sent on over gRPC; send protobuf')
  }
  const whole = body instanceof Uint8Array ? body : await collected(body, limits.heldBytes)
  if (whole === undefined || 'kind' in whole) return whole
  if (encoding === 'protobuf') return { body: whole, bytes: whole.length, contentEncoding }
  const json = await inflated(whole, contentEncoding, limits.heldBytes)
  if ('kind' in json) return json
  return encodedAnew(signal as Signal, json, encoder)
}

function encodedAnew(signal: Signal, json: Uint8Array, encoder: RequestEncoder): MessageBody | Refused {
  try {
    const message = encoder.encode(signal, decodeRequest(signal, json, 'json'))
    return { body: message, bytes: message.length, contentEncoding: '' }
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error
    return refusal(400, GrpcCode.INVALID_ARGUMENT, `the body is not OTLP in JSON: ${error.message}`)
  }
}

async function inflated(bytes: Uint8Array, coding: string, limitBytes: number): Promise<Uint8Array | Refused> {
  if (coding === '' || coding === 'identity') return bytes
  if (coding !== 'gzip') {
    return refusal(
      415,
      GrpcCode.INVALID_ARGUMENT,
      'JSON can be sent on over gRPC only with content-encoding gzip or none',
    )
  }
  try {
    return await gunzipped(bytes, { maxOutputLength: limitBytes })
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    return isTooLarge ? tooLarge(limitBytes) : refusal(400, GrpcCode.INVALID_ARGUMENT, 'the body is not gzip')
  }
}

async function collected(body: Readable, limitBytes: number): Promise<Uint8Array | Refused | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) {
      bytes += part.length
      if (bytes > limitBytes) return tooLarge(limitBytes)
      parts.push(part)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(parts, bytes)
}

function tooLarge(limitBytes: number): Refused {
  return {
    kind: 'refused',
    cause: 'too_large',
    httpStatus: 413,
    grpcCode: GrpcCode.RESOURCE_EXHAUSTED,
    message: `the body is longer than ${limitBytes} bytes`,
    retryAfter: undefined,
    status: undefined,
  }
}

function refusal(httpStatus: number, grpcCode: number, message: string): Refused {
  return { kind: 'refused', cause: 'rejected', httpStatus, grpcCode, message, retryAfter: undefined, status: undefined }
}
