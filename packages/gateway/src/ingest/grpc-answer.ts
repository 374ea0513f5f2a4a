import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import {
  decodeRpcStatus,
  encodeExportResponse,
  encodeRpcStatus,
  GrpcCode,
  OtlpDecodeError,
  type RpcStatus,
} from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import { retryAfterSeconds } from '../upstream/status-codes.ts'
import type { Admitted } from './admission.ts'
import type { Accepted, Answer, Refused } from './answer.ts'
import { encodeGrpcMessage, frame } from './grpc-wire.ts'
import { type Refusal, refusalTable, violationsOf } from './refusals.ts'
import type { IngestSignal } from './signals.ts'

const { NGHTTP2_NO_ERROR } = constants

/** An error of one call, as it goes out; what it says beside code and message goes into the details. */
export interface GrpcError extends RpcStatus {
  /** A google.rpc.Status in protobuf, to be passed on as it is. */
  readonly details?: Uint8Array | undefined
}

/**
 * Trailers-Only: one HEADERS frame that ends the stream, then RST_STREAM NO_ERROR, so that a client in the middle of a
 * large message stops sending and still sees the status (P-21).
 */
export function sendError(stream: ServerHttp2Stream, error: GrpcError): void {
  if (stream.destroyed || stream.headersSent) return
  const headers: OutgoingHttpHeaders = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-status': String(error.code),
    'grpc-message': encodeGrpcMessage(error.message),
  }
  const details = error.details ?? (hasDetails(error) ? encodeRpcStatus(error, 'protobuf') : undefined)
  if (details !== undefined) headers['grpc-status-details-bin'] = unpaddedBase64(details)
  stream.respond(headers, endOfStream)
  if (!stream.readableEnded) stream.close(NGHTTP2_NO_ERROR)
}

/** sendDate: gRPC has no use for it. */
const endOfStream = { endStream: true, sendDate: false }
/** The stream then asks for trailers with `wantTrailers`. */
export const beforeTrailers = { waitForTrailers: true, sendDate: false }

const okHeaders: OutgoingHttpHeaders = { ':status': 200, 'content-type': 'application/grpc' }
const okTrailers: OutgoingHttpHeaders = { 'grpc-status': '0' }
const emptyMessage = frame(Buffer.alloc(0), false)

/** A response of one message and status 0. */
export function sendMessage(stream: ServerHttp2Stream, framed: Uint8Array, expiresAt?: string): void {
  if (stream.destroyed || stream.headersSent) return
  const headers = expiresAt === undefined ? okHeaders : { ...okHeaders, 'x-ingest-token-expires': expiresAt }
  stream.respond(headers, beforeTrailers)
  stream.once('wantTrailers', sendOkTrailers)
  stream.end(framed)
}

function sendOkTrailers(this: ServerHttp2Stream): void {
  this.sendTrailers(okTrailers)
}

export function sendAnswer(
  stream: ServerHttp2Stream,
  answer: Answer,
  signal: IngestSignal,
  admitted: Admitted,
  nowMs: number,
): void {
  if (answer.kind === 'refused') sendError(stream, errorOfAnswer(answer, nowMs))
  else sendMessage(stream, responseFrame(answer, signal, admitted.warning), admitted.expiresAt)
}

/** Upstream's own words where it has any, else the warning, which goes out on full successes only (E-5). */
function responseFrame(
  { partialSuccess, body }: Accepted,
  signal: IngestSignal,
  warning: string | undefined,
): Uint8Array {
  if (partialSuccess === undefined && warning === undefined) return emptyMessage
  if (body?.encoding === 'protobuf' && partialSuccess !== undefined) return frame(body.bytes, false)
  const remark = partialSuccess ?? { rejected: 0n, message: warning! }
  // The partial success of profiles has the field numbers of the others.
  return frame(encodeExportResponse(signal === 'profiles' ? 'traces' : signal, remark, 'protobuf'), false)
}

export function errorOfRefusal(refusal: Refusal, random: Random): GrpcError {
  const { kind, message } = refusal
  const { grpc, retry } = refusalTable[kind]
  const seconds = retry ? (refusal.retryAfterSeconds ?? retryAfterSeconds(random)) : undefined
  const error = { code: grpc, message, retryDelayMs: seconds === undefined ? undefined : seconds * 1_000 }
  const fieldViolations = violationsOf(refusal)
  return fieldViolations === undefined ? error : { ...error, fieldViolations }
}

/** Code 14 always names a wait, and code 8 never does unless upstream itself did (P-24). */
function errorOfAnswer({ grpcCode, message, retryAfter, status }: Refused, nowMs: number): GrpcError {
  const details = status?.encoding === 'protobuf' && codeOfStatus(status.bytes) === grpcCode ? status.bytes : undefined
  const isThrottling = grpcCode === GrpcCode.UNAVAILABLE && retryAfter !== undefined
  return { code: grpcCode, message, retryDelayMs: isThrottling ? delayMs(retryAfter, nowMs) : undefined, details }
}

/** Seconds, or an HTTP-date. Never below a second: a client that gets 0 comes back at once. */
function delayMs(retryAfter: number | string, nowMs: number): number {
  const ms = typeof retryAfter === 'number' ? retryAfter * 1_000 : Date.parse(retryAfter) - nowMs
  return ms >= 1_000 ? Math.ceil(ms) : 1_000
}

/** `undefined` for what is no google.rpc.Status, which clients would not understand either. */
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

/** Receivers must take either; some old ones take only this. */
function unpaddedBase64(bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return padding === 0 ? base64 : base64.slice(0, -padding)
}
