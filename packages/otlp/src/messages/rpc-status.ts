import type { DecodeLimits } from '../bytes/decode-limits.ts'
import { list, type Message, message, optional, scalar } from '../schema/field.ts'
import { decodeMessage } from './decode-request.ts'
import { encodeMessage } from './encode-message.ts'
import type { Encoding } from './encoding.ts'

/** A google.rpc.Status: the body of every refused OTLP/HTTP request, and gRPC's `grpc-status-details-bin`. */
export interface RpcStatus {
  /** A value of `GrpcCode`. Unknown numbers are kept. */
  readonly code: number
  readonly message: string
  /** The delay of google.rpc.RetryInfo, the only detail with a meaning in OTLP, in whole milliseconds. */
  readonly retryDelayMs: number | undefined
  /** The violations of google.rpc.BadRequest, which OTLP recommends for status 400. */
  readonly fieldViolations?: readonly FieldViolation[]
}

export interface FieldViolation {
  /** The path of the field in the request; `body` for the whole request. */
  readonly field: string
  readonly description: string
}

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest'

/**
 * A status with details. A google.protobuf.Any consists of a type and bytes in protobuf, and of a type and the
 * message's own keys in JSON.
 */
interface StatusWith<Detail> {
  readonly code: number
  readonly message: string
  readonly details: readonly Detail[]
}

function statusMessage<Detail>(detail: Message<Detail>): Message<StatusWith<Detail>> {
  return message<StatusWith<Detail>>('google.rpc.Status', {
    code: scalar(1, 'int32'),
    message: scalar(2, 'string'),
    details: list(3, detail),
  })
}

const fieldViolation = message<FieldViolation>('google.rpc.BadRequest.FieldViolation', {
  field: scalar(1, 'string'),
  description: scalar(2, 'string'),
})

const badRequest = message<{ fieldViolations: readonly FieldViolation[] }>('google.rpc.BadRequest', {
  fieldViolations: list(1, fieldViolation),
})

const protobufStatus = statusMessage(
  message<{ typeUrl: string; value: Uint8Array }>('google.protobuf.Any', {
    typeUrl: scalar(1, 'string'),
    value: scalar(2, 'bytes'),
  }),
)

/** The keys of all known details. Keys of other detail types are empty. */
interface JsonDetail {
  readonly typeUrl: string
  readonly retryDelay: string
  readonly fieldViolations: readonly FieldViolation[]
}

const jsonStatus = statusMessage(
  message<JsonDetail>('google.protobuf.Any', {
    typeUrl: scalar(1, 'string', '@type'),
    retryDelay: scalar(2, 'string'),
    fieldViolations: list(3, fieldViolation),
  }),
)

interface Duration {
  readonly seconds: bigint
  readonly nanos: number
}

const retryInfo = message<{ retryDelay: Duration | undefined }>('google.rpc.RetryInfo', {
  retryDelay: optional(
    1,
    message<Duration>('google.protobuf.Duration', { seconds: scalar(1, 'int64'), nanos: scalar(2, 'int32') }),
  ),
})

export function encodeRpcStatus(status: RpcStatus, encoding: Encoding): Uint8Array {
  const { code, message, retryDelayMs, fieldViolations } = status
  if (encoding === 'json') {
    const details: JsonDetail[] = []
    if (retryDelayMs !== undefined) {
      details.push({ typeUrl: RETRY_INFO, retryDelay: `${retryDelayMs / 1000}s`, fieldViolations: [] })
    }
    if (fieldViolations !== undefined) details.push({ typeUrl: BAD_REQUEST, retryDelay: '', fieldViolations })
    return encodeMessage(jsonStatus, { code, message, details }, 'json')
  }
  const details: { typeUrl: string; value: Uint8Array }[] = []
  if (retryDelayMs !== undefined) details.push({ typeUrl: RETRY_INFO, value: encodeRetryInfo(retryDelayMs) })
  if (fieldViolations !== undefined) {
    details.push({ typeUrl: BAD_REQUEST, value: encodeMessage(badRequest, { fieldViolations }, 'protobuf') })
  }
  return encodeMessage(protobufStatus, { code, message, details }, 'protobuf')
}

/** Decodes a status. Details other than RetryInfo and BadRequest are skipped. @throws {OtlpDecodeError} for an invalid body */
export function decodeRpcStatus(bytes: Uint8Array, encoding: Encoding, limits: Partial<DecodeLimits> = {}): RpcStatus {
  if (encoding === 'json') {
    const { code, message, details } = decodeMessage(jsonStatus, bytes, encoding, limits)
    const delay = details.find(({ typeUrl }) => typeUrl === RETRY_INFO)?.retryDelay
    const violations = details.find(({ typeUrl }) => typeUrl === BAD_REQUEST)?.fieldViolations
    return statusOf(code, message, delay === undefined ? undefined : durationMs(delay), violations)
  }
  const { code, message, details } = decodeMessage(protobufStatus, bytes, encoding, limits)
  const info = details.find(({ typeUrl }) => typeUrl === RETRY_INFO)?.value
  const bad = details.find(({ typeUrl }) => typeUrl === BAD_REQUEST)?.value
  const violations = bad && decodeMessage(badRequest, bad, 'protobuf', limits).fieldViolations
  return statusOf(code, message, info === undefined ? undefined : decodeRetryInfo(info, limits), violations)
}

function statusOf(
  code: number,
  message: string,
  retryDelayMs: number | undefined,
  fieldViolations: readonly FieldViolation[] | undefined,
): RpcStatus {
  return { code, message, retryDelayMs, ...(fieldViolations !== undefined && { fieldViolations }) }
}

function encodeRetryInfo(retryDelayMs: number): Uint8Array {
  const seconds = Math.floor(retryDelayMs / 1000)
  const nanos = (retryDelayMs - seconds * 1000) * 1_000_000
  return encodeMessage(retryInfo, { retryDelay: { seconds: BigInt(seconds), nanos } }, 'protobuf')
}

function decodeRetryInfo(bytes: Uint8Array, limits: Partial<DecodeLimits>): number | undefined {
  const { retryDelay } = decodeMessage(retryInfo, bytes, 'protobuf', limits)
  return retryDelay && Number(retryDelay.seconds) * 1000 + Math.round(retryDelay.nanos / 1_000_000)
}

/** Returns the milliseconds of a google.protobuf.Duration in JSON, such as `1.5s`. */
function durationMs(text: string): number | undefined {
  const seconds = /^(-?\d+(?:\.\d{1,9})?)s$/.exec(text)?.[1]
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000)
}
