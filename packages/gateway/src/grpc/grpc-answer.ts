import { constants, type OutgoingHttpHeaders } from 'node:http2'
import {
  decodeRpcStatus,
  encodeExportResponse,
  encodeRpcStatus,
  GrpcCode,
  OtlpDecodeError,
  type RpcStatus,
} from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import { UNSENT_MS } from '../connections/discard-limits.ts'
import type { Admitted } from '../contract/admission.ts'
import type { Accepted, Answer, Refused } from '../contract/answer.ts'
import { type Refusal, refusalTable, violationsOf } from '../contract/refusals.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import type { IngestSignal } from '../contract/signals.ts'
import type { Http2Stream } from '../http2/http2-stream.ts'
import { encodeGrpcMessage, frame } from '../wire/grpc-wire.ts'

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants

/** The values of `grpc-encoding` that are accepted. */
export const GRPC_ENCODINGS: readonly string[] = ['gzip', 'deflate', 'identity']

/** The error that ends a call. Fields other than code and message are sent in the status details. */
export interface GrpcError extends RpcStatus {
  /** A google.rpc.Status in protobuf that is sent unchanged. */
  readonly details?: Uint8Array | undefined
  /** The value of `grpc-accept-encoding`, for a message in an encoding that is not accepted. */
  readonly acceptEncoding?: string | undefined
}

/**
 * Ends a stream with a Trailers-Only response: one HEADERS frame that ends the stream, then RST_STREAM NO_ERROR, so
 * that a client that is still sending a large message stops and sees the status (P-21).
 */
export function sendError(stream: Http2Stream, error: GrpcError): void {
  if (stream.destroyed || stream.headersSent) return
  const headers: OutgoingHttpHeaders = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-status': String(error.code),
    'grpc-message': encodeGrpcMessage(error.message),
  }
  if (error.acceptEncoding !== undefined) headers['grpc-accept-encoding'] = error.acceptEncoding
  const details = error.details ?? (hasDetails(error) ? encodeRpcStatus(error, 'protobuf') : undefined)
  if (details !== undefined) headers['grpc-status-details-bin'] = unpaddedBase64(details)
  stream.respond(headers, endOfStream)
  if (!stream.readableEnded) stream.close(NGHTTP2_NO_ERROR)
}

/** gRPC does not use a date header. */
const endOfStream = { endStream: true, sendDate: false }
/** Options of `respond` that make the stream emit `wantTrailers` when it is ready for trailers. */
export const beforeTrailers = { waitForTrailers: true, sendDate: false }

const okHeaders: OutgoingHttpHeaders = Object.freeze({ ':status': 200, 'content-type': 'application/grpc' })
const okTrailers: OutgoingHttpHeaders = Object.freeze({ 'grpc-status': '0' })
const emptyMessage = frame(Buffer.alloc(0), false)

/** Sends a response with one message and status 0. */
export function sendMessage(stream: Http2Stream, framed: Uint8Array, expiresAt?: string): void {
  if (stream.destroyed || stream.headersSent) return
  const headers = expiresAt === undefined ? okHeaders : { ...okHeaders, 'x-ingest-token-expires': expiresAt }
  stream.respond(headers, beforeTrailers)
  stream.once('wantTrailers', sendOkTrailers)
  stream.end(framed)
  if (!stream.closed) stream.setTimeout(UNSENT_MS, () => stream.close(NGHTTP2_CANCEL))
}

function sendOkTrailers(this: Http2Stream): void {
  this.sendTrailers(okTrailers)
}

export function sendAnswer(
  stream: Http2Stream,
  answer: Answer,
  signal: IngestSignal,
  admitted: Admitted,
  nowMs: number,
): void {
  if (answer.kind === 'refused') sendError(stream, errorOfAnswer(answer, nowMs))
  else sendMessage(stream, responseFrame(answer, signal, admitted.warning), admitted.expiresAt)
}

/**
 * Returns the response: upstream's partial success if there is one, otherwise the warning (E-5) or an empty message.
 */
function responseFrame(
  { partialSuccess, body }: Accepted,
  signal: IngestSignal,
  warning: string | undefined,
): Uint8Array {
  if (partialSuccess === undefined && warning === undefined) return emptyMessage
  if (body?.encoding === 'protobuf' && partialSuccess !== undefined) return frame(body.bytes, false)
  const remark = partialSuccess ?? { rejected: 0n, message: warning! }
  // The partial success of profiles has the same field numbers as that of the other signals.
  return frame(encodeExportResponse(signal === 'profiles' ? 'traces' : signal, remark, 'protobuf'), false)
}

export function errorOfRefusal(refusal: Refusal, random: Random): GrpcError {
  const { kind, message } = refusal
  const { grpc, retry } = refusalTable[kind]
  const seconds = retry ? (refusal.retryAfterSeconds ?? retryAfterSeconds(random)) : undefined
  const acceptEncoding = kind === 'unsupported_encoding' ? GRPC_ENCODINGS.join() : undefined
  const error = {
    code: grpc,
    message,
    retryDelayMs: seconds === undefined ? undefined : seconds * 1_000,
    acceptEncoding,
  }
  const fieldViolations = violationsOf(refusal)
  return fieldViolations === undefined ? error : { ...error, fieldViolations }
}

/** Returns the error of a refused call. Code 14 always states a wait; code 8 does so only if upstream did (P-24). */
function errorOfAnswer({ grpcCode, message, retryAfter, status }: Refused, nowMs: number): GrpcError {
  const details = status?.encoding === 'protobuf' && codeOfStatus(status.bytes) === grpcCode ? status.bytes : undefined
  const isThrottling = grpcCode === GrpcCode.UNAVAILABLE && retryAfter !== undefined
  return { code: grpcCode, message, retryDelayMs: isThrottling ? delayMs(retryAfter, nowMs) : undefined, details }
}

/** Converts seconds or an HTTP date to milliseconds. At least one second: clients that get 0 retry immediately. */
function delayMs(retryAfter: number | string, nowMs: number): number {
  const ms = typeof retryAfter === 'number' ? retryAfter * 1_000 : Date.parse(retryAfter) - nowMs
  return ms >= 1_000 ? Math.ceil(ms) : 1_000
}

/** Returns the code of an encoded google.rpc.Status; `undefined` if it cannot be decoded. */
function codeOfStatus(bytes: Uint8Array): number | undefined {
  try {
    return decodeRpcStatus(bytes, 'protobuf').code
  } catch (error) {
    if (error instanceof OtlpDecodeError) return undefined
    throw error
  }
}

function hasDetails({ retryDelayMs, fieldViolations }: GrpcError): boolean {
  return retryDelayMs !== undefined || fieldViolations !== undefined
}

/** Returns base64 without padding. Receivers must accept both forms, but some old ones accept only the unpadded one. */
function unpaddedBase64(bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return padding === 0 ? base64 : base64.slice(0, -padding)
}
