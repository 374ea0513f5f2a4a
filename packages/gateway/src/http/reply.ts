import { contentTypes, type Encoding, encodeExportResponse, encodeRpcStatus, type PartialSuccess } from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import type { Accepted, Refused } from '../contract/answer.ts'
import type { FlatHeaders } from '../contract/export-call.ts'
import { type Refusal, refusalTable, violationsOf } from '../contract/refusals.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import type { IngestSignal } from '../contract/signals.ts'

/** A reply over either version of HTTP. */
export interface Reply {
  readonly status: number
  readonly headers: FlatHeaders
  readonly body: Uint8Array | undefined
}

const plainSuccess: Readonly<Record<Encoding, Reply>> = {
  protobuf: { status: 200, headers: headersOf('protobuf', 0), body: undefined },
  json: { status: 200, headers: headersOf('json', 2), body: Buffer.from('{}') },
}

/** The highest number of cached status bodies. Messages that name a token differ by token. */
const MAX_CACHED_STATUSES = 512

/** Returns the reply to an accepted request. `warning` is sent only with a full success (E-5). */
export function acceptedReply(
  { partialSuccess, body }: Accepted,
  signal: IngestSignal,
  encoding: Encoding,
  warning: string | undefined,
): Reply {
  if (partialSuccess === undefined) {
    if (warning === undefined) return plainSuccess[encoding]
    return success(encoding, encodedPartialSuccess(signal, { rejected: 0n, message: warning }, encoding))
  }
  if (body?.encoding === encoding) return success(encoding, body.bytes)
  return success(encoding, encodedPartialSuccess(signal, partialSuccess, encoding))
}

/** Encodes refusals as google.rpc.Status (P-5). */
export class RefusalWriter {
  readonly #random: Random
  readonly #ready: Readonly<Record<Encoding, Map<string, Uint8Array>>> = { protobuf: new Map(), json: new Map() }

  constructor(random: Random) {
    this.#random = random
  }

  refusalReply(refusal: Refusal, encoding: Encoding): Reply {
    const { kind, message, challenge } = refusal
    const { http, grpc, retry } = refusalTable[kind]
    const fieldViolations = violationsOf(refusal)
    const body =
      fieldViolations === undefined
        ? this.#statusBody(grpc, message, encoding)
        : encodeRpcStatus({ code: grpc, message, retryDelayMs: undefined, fieldViolations }, encoding)
    const headers = headersOf(encoding, body.length)
    if (http === 401) headers.push('www-authenticate', challenge ?? 'Bearer realm="otlp"')
    else if (challenge !== undefined) headers.push('www-authenticate', challenge)
    if (retry) headers.push('retry-after', String(refusal.retryAfterSeconds ?? retryAfterSeconds(this.#random)))
    return { status: http, headers, body }
  }

  refusedReply({ httpStatus, grpcCode, message, retryAfter, status }: Refused, encoding: Encoding): Reply {
    const body = status?.encoding === encoding ? status.bytes : this.#statusBody(grpcCode, message, encoding)
    const headers = headersOf(encoding, body.length)
    const seconds =
      retryAfter ?? (httpStatus === 429 || httpStatus === 503 ? retryAfterSeconds(this.#random) : undefined)
    if (seconds !== undefined) headers.push('retry-after', String(seconds))
    return { status: httpStatus, headers, body }
  }

  #statusBody(code: number, message: string, encoding: Encoding): Uint8Array {
    const ready = this.#ready[encoding]
    const key = `${code} ${message}`
    const known = ready.get(key)
    if (known !== undefined) return known
    const body = encodeRpcStatus({ code, message, retryDelayMs: undefined }, encoding)
    if (ready.size < MAX_CACHED_STATUSES) ready.set(key, body)
    return body
  }
}

function success(encoding: Encoding, body: Uint8Array): Reply {
  return { status: 200, headers: headersOf(encoding, body.length), body }
}

/**
 * Encodes a partial success. The message for profiles differs only in the JSON name of the count, which a warning does
 * not contain.
 */
function encodedPartialSuccess(signal: IngestSignal, partialSuccess: PartialSuccess, encoding: Encoding): Uint8Array {
  return encodeExportResponse(signal === 'profiles' ? 'traces' : signal, partialSuccess, encoding)
}

function headersOf(encoding: Encoding, bodyBytes: number): string[] {
  return ['content-type', contentTypes[encoding], 'content-length', String(bodyBytes)]
}
