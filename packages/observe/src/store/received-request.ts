import { gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib'
import { decodeRequestInSteps, type Encoding, OtlpDecodeError, type PartialSuccess, type Signal } from '@penstock/otlp'
import { type Arrival, arrivalSlices, rowsIn } from './arrival.ts'

export type ContentCoding = 'identity' | 'gzip' | 'deflate'

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly signal: Signal
  readonly encoding: Encoding
  readonly coding: ContentCoding
  readonly wire: Uint8Array
  /** The id of the token that the request was sent with. Requests without a token are treated as those of one sender. */
  readonly sender?: string | undefined
}

export interface RequestLimits {
  /** The limit on the inflated body. Default 64 MiB. */
  readonly maxBodyBytes: number
  /**
   * The limit on the elements of all lists of the request: resources, scopes, spans,
   * attributes, points. Default 500,000.
   */
  readonly maxElements: number
}

/** The result of one request. Only a `kept` one is stored; an `unavailable` one may be sent again. */
export type Receipt =
  | { readonly kind: 'kept'; readonly partialSuccess: PartialSuccess | undefined }
  | { readonly kind: 'rejected' | 'too_large' | 'unavailable'; readonly text: string }

export interface OpenedRequest {
  /** Yields the contents in parts of about `maxRows` rows; nothing for an empty request. */
  readonly slices: (maxRows: number) => Iterator<Arrival, undefined>
  readonly rows: number
  /** The length of the inflated body. */
  readonly bodyBytes: number
}

/** A request that can never be stored. */
interface Refused {
  readonly kind: 'rejected' | 'too_large'
  readonly text: string
}

/**
 * The limit on a body written as JSON, the form in which items are stored: a control character is one byte in protobuf
 * and six in JSON.
 */
const MAX_JSON_BYTES = 192 * 1024 * 1024

/** Returns the same message that the gateway uses, because the gateway passes it on. */
export const tooLargeText = (limitBytes: number): string =>
  `The body is longer than ${limitBytes} bytes, as sent or inflated.`

const tooLarge = (limitBytes: number): Refused => ({ kind: 'too_large', text: tooLargeText(limitBytes) })
const tooLargeAsJson: Refused = {
  kind: 'too_large',
  text: `The body would be longer than ${MAX_JSON_BYTES} bytes as JSON.`,
}
const notInflatable: Refused = { kind: 'rejected', text: 'the body cannot be inflated' }

/** The length of an inflated body above which a request is written in slices. Shorter ones with many rows are sliced too. */
const LARGE_BYTES = 1024 * 1024

/** Returns whether the body of a request, inflated, is large. Inflates no more than it needs to know that. */
export function isLarge({ coding, wire }: ReceivedRequest): boolean {
  const body = inflated(wire, coding, LARGE_BYTES)
  return 'kind' in body && body.kind === 'too_large'
}

/** The number of items of a long list that one step decodes. */
const ITEMS_PER_STEP = 20_000

/** Inflates and decodes a request within limits on memory. Blocks its thread. */
export function openReceived(received: ReceivedRequest, limits: RequestLimits, nowNs: bigint): OpenedRequest | Refused {
  const opening = openReceivedInSteps(received, limits, nowNs)
  for (;;) {
    const { done, value } = opening.next()
    if (done) return value
  }
}

/** Does what `openReceived` does in steps, so that the thread can do other work in between. */
export function* openReceivedInSteps(
  { signal, encoding, coding, wire }: ReceivedRequest,
  { maxBodyBytes, maxElements }: RequestLimits,
  nowNs: bigint,
): Generator<void, OpenedRequest | Refused> {
  const body = inflated(wire, coding, maxBodyBytes)
  if ('kind' in body) return body
  try {
    const limits = { maxBytes: maxBodyBytes, maxElements, itemsPerStep: ITEMS_PER_STEP }
    const request = yield* decodeRequestInSteps(signal, body, encoding, limits)
    if (encoding === 'protobuf' && mostJsonBytes(body) > MAX_JSON_BYTES) return tooLargeAsJson
    return {
      slices: (maxRows) => arrivalSlices(signal, request, nowNs, maxRows),
      rows: rowsIn(request),
      bodyBytes: body.length,
    }
  } catch (error) {
    if (error instanceof OtlpDecodeError) return { kind: 'rejected', text: error.message }
    throw error
  }
}

/** The result of zlib with the option `info`, which Node's types do not describe: it contains the engine. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

const inflaters: Readonly<
  Record<Exclude<ContentCoding, 'identity'>, (wire: Uint8Array, options: ZlibOptions) => unknown>
> = { gzip: gunzipSync, deflate: inflateSync }

function inflated(wire: Uint8Array, coding: ContentCoding, maxBytes: number): Uint8Array | Refused {
  if (coding === 'identity') return wire.length > maxBytes ? tooLarge(maxBytes) : wire
  try {
    const { buffer, engine } = inflaters[coding](wire, { maxOutputLength: maxBytes, info: true }) as Inflated
    // zlib stops silently at zeros after a gzip member or a deflate stream, so the rest would be lost.
    return engine.bytesWritten === wire.length ? buffer : notInflatable
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes)
    // Errors of zlib itself have codes such as Z_DATA_ERROR.
    if (code?.startsWith('Z_')) return notInflatable
    throw error
  }
}

/** Estimates the length of a body in JSON: as if all its bytes were text, where a control character takes six bytes. */
function mostJsonBytes(body: Uint8Array): number {
  let controls = 0
  for (let at = 0; at < body.length; at += 1) if (body[at]! < 0x20) controls += 1
  return body.length + controls * 5
}
