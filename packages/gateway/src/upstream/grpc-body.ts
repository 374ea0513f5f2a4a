import type { Readable } from 'node:stream'
import { decodeRequest, OtlpDecodeError, type RequestEncoder, type Signal } from '@penstock/otlp'
import type { Refused } from '../contract/answer.ts'
import { gatewayRefusal } from '../contract/gateway-answers.ts'
import type { UpstreamRequest } from '../contract/upstream.ts'
import { gunzipBody } from '../wire/gunzip.ts'

/** The body of a request as one gRPC message in protobuf. */
export interface MessageBody {
  readonly body: Uint8Array | Readable
  readonly bytes: number
  /** '' for identity. */
  readonly contentEncoding: string
}

interface BodyLimits {
  /**
   * The maximum size of a body that is buffered because its length is unknown or because it is converted. It also
   * limits the inflated size.
   */
  readonly maxBufferedBytes: number
}

/**
 * Buffers a body of unknown length, and converts JSON to protobuf. Refuses profiles in JSON, which the gateway
 * cannot decode.
 *
 * @returns `undefined` if the stream fails before its end because the client has disconnected
 */
export async function bufferMessage(
  request: UpstreamRequest,
  limits: BodyLimits,
  encoder: RequestEncoder,
): Promise<MessageBody | Refused | undefined> {
  const { signal, encoding, contentEncoding, body } = request
  if (encoding === 'json' && signal === 'profiles') {
    return unsupported('profiles in JSON cannot be sent on over gRPC; send protobuf')
  }
  const whole = body instanceof Uint8Array ? body : await collect(body, limits.maxBufferedBytes)
  if (whole === undefined || 'kind' in whole) return whole
  if (encoding === 'protobuf') return { body: whole, bytes: whole.length, contentEncoding }
  const json = await inflate(whole, contentEncoding, limits.maxBufferedBytes)
  if ('kind' in json) return json
  return convertJson(signal as Signal, json, encoder)
}

function convertJson(signal: Signal, json: Uint8Array, encoder: RequestEncoder): MessageBody | Refused {
  try {
    const message = encoder.encode(signal, decodeRequest(signal, json, 'json'))
    return { body: message, bytes: message.length, contentEncoding: '' }
  } catch (error) {
    if (!(error instanceof OtlpDecodeError)) throw error
    return badBody(`the body is not OTLP in JSON: ${error.message}`)
  }
}

async function inflate(bytes: Uint8Array, coding: string, limitBytes: number): Promise<Uint8Array | Refused> {
  if (coding === '' || coding === 'identity') return bytes
  if (coding !== 'gzip') {
    return unsupported('JSON can be sent on over gRPC only with content-encoding gzip or none')
  }
  const json = await gunzipBody(bytes, limitBytes)
  if (json === 'too_large') return tooLarge(limitBytes)
  return json === 'invalid' ? badBody('the body is not valid gzip') : json
}

async function collect(body: Readable, limitBytes: number): Promise<Uint8Array | Refused | undefined> {
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

const tooLarge = (limitBytes: number): Refused =>
  gatewayRefusal({ kind: 'body_too_large', message: `the body is longer than ${limitBytes} bytes` }, 'too_large')

/** Refuses a malformed body. Only JSON bodies are decoded in this file. */
const badBody = (message: string): Refused =>
  gatewayRefusal({ kind: 'bad_body', message }, 'rejected', undefined, 'json')

const unsupported = (message: string): Refused =>
  gatewayRefusal({ kind: 'unsupported_media_type', message }, 'rejected')
