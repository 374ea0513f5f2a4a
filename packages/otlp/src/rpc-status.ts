import type { DecodeLimits } from './decode-limits.ts'
import { decodeMessage } from './decode-request.ts'
import { encodeMessage } from './encode-message.ts'
import type { Encoding } from './encoding.ts'
import { list, type Message, message, optional, scalar } from './field.ts'

/** google.rpc.Status: the body of every refused OTLP/HTTP request, and gRPC's `grpc-status-details-bin`. */
export interface RpcStatus {
  /** A value of `GrpcCode`; unknown numbers survive. */
  readonly code: number
  readonly message: string
  /** google.rpc.RetryInfo, the only detail that OTLP gives a meaning, in whole milliseconds; `undefined` when there is none. */
  readonly retryDelayMs: number | undefined
}

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'

/** google.protobuf.Any differs between the encodings: bytes under a type in protobuf, the message's own keys in JSON. */
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

const protobufStatus = statusMessage(
  message<{ typeUrl: string; value: Uint8Array }>('google.protobuf.Any', {
    typeUrl: scalar(1, 'string'),
    value: scalar(2, 'bytes'),
  }),
)

const jsonStatus = statusMessage(
  message<{ typeUrl: string; retryDelay: string }>('google.protobuf.Any', {
    typeUrl: scalar(1, 'string', '@type'),
    retryDelay: scalar(2, 'string'),
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

export function encodeRpcStatus({ code, message, retryDelayMs }: RpcStatus, encoding: Encoding): Uint8Array {
  if (encoding === 'json') {
    const details = retryDelayMs === undefined ? [] : [{ typeUrl: RETRY_INFO, retryDelay: `${retryDelayMs / 1000}s` }]
    return encodeMessage(jsonStatus, { code, message, details }, 'json')
  }
  const details = retryDelayMs === undefined ? [] : [{ typeUrl: RETRY_INFO, value: encodeRetryInfo(retryDelayMs) }]
  return encodeMessage(protobufStatus, { code, message, details }, 'protobuf')
}

/** Throws `OtlpDecodeError`. Details other than RetryInfo are skipped. */
export function decodeRpcStatus(bytes: Uint8Array, encoding: Encoding, limits: Partial<DecodeLimits> = {}): RpcStatus {
  if (encoding === 'json') {
    const { code, message, details } = decodeMessage(jsonStatus, bytes, encoding, limits)
    const delay = details.find(({ typeUrl }) => typeUrl === RETRY_INFO)?.retryDelay
    return { code, message, retryDelayMs: delay === undefined ? undefined : durationMs(delay) }
  }
  const { code, message, details } = decodeMessage(protobufStatus, bytes, encoding, limits)
  const info = details.find(({ typeUrl }) => typeUrl === RETRY_INFO)?.value
  return { code, message, retryDelayMs: info === undefined ? undefined : decodeRetryInfo(info, limits) }
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

/** `1.5s`, the JSON form of a google.protobuf.Duration. */
function durationMs(text: string): number | undefined {
  const seconds = /^(-?\d+(?:\.\d{1,9})?)s$/.exec(text)?.[1]
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000)
}
