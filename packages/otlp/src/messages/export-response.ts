import type { DecodeLimits } from '../bytes/decode-limits.ts'
import { signals } from '../model/signals.ts'
import type { Signal } from '../model/types.ts'
import { type Message, message, optional, scalar } from '../schema/field.ts'
import { decodeMessage } from './decode-request.ts'
import { encodeMessage } from './encode-message.ts'
import type { Encoding } from './encoding.ts'

/** Export*PartialSuccess. `rejected` 0 with a message is a warning: everything was accepted. */
export interface PartialSuccess {
  /** The number of rejected spans, data points or log records. */
  readonly rejected: bigint
  readonly message: string
}

interface ExportResponse {
  readonly partialSuccess: PartialSuccess | undefined
}

function responseMessage(signal: Signal): Message<ExportResponse> {
  const partialSuccess = message<PartialSuccess>('PartialSuccess', {
    rejected: scalar(1, 'int64', signals[signal].rejectedKey),
    message: scalar(2, 'string', 'errorMessage'),
  })
  return message<ExportResponse>('ExportResponse', { partialSuccess: optional(1, partialSuccess) })
}

const responses: Readonly<Record<Signal, Message<ExportResponse>>> = {
  traces: responseMessage('traces'),
  metrics: responseMessage('metrics'),
  logs: responseMessage('logs'),
}

/** Returns the body of an Export*ServiceResponse. Without a partial success it is empty in protobuf and `{}` in JSON. */
export function encodeExportResponse(
  signal: Signal,
  partialSuccess: PartialSuccess | undefined,
  encoding: Encoding,
): Uint8Array {
  return encodeMessage(responses[signal], { partialSuccess }, encoding)
}

/**
 * Returns the partial success in the body of a 2xx answer. It is `undefined` if everything was accepted without a
 * message; an empty body means the same in both encodings.
 *
 * @throws {OtlpDecodeError} for an invalid body
 * @see https://opentelemetry.io/docs/specs/otlp/#partial-success
 */
export function decodeExportResponse(
  signal: Signal,
  bytes: Uint8Array,
  encoding: Encoding,
  limits: Partial<DecodeLimits> = {},
): PartialSuccess | undefined {
  if (bytes.length === 0) return undefined
  const { partialSuccess } = decodeMessage(responses[signal], bytes, encoding, limits)
  const isFullSuccess = partialSuccess?.rejected === 0n && partialSuccess.message === ''
  return isFullSuccess ? undefined : partialSuccess
}
