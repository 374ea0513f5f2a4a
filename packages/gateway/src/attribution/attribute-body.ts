import type { Encoding, Signal } from '@penstock/otlp'
import type { Refusal } from '../contract/refusals.ts'
import type { IngestSignal } from '../contract/signals.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { BodyRefused, malformed } from '../wire/body-refused.ts'
import { gunzipBody } from '../wire/gunzip.ts'
import { spliceJson } from './json-resource-splice.ts'
import { ownerAttributesOf } from './owner-attributes.ts'
import { spliceProtobuf } from './resource-splice.ts'

/** The number of bytes by which attribution may lengthen a body: enough for about ten thousand Resources. */
const MAX_GROWTH_BYTES = 1024 * 1024

export interface AttributionInput {
  readonly signal: IngestSignal
  readonly encoding: Encoding
  /** '' or `identity` for a body that is not compressed. */
  readonly contentEncoding: string
  readonly bytes: Uint8Array
}

type AttributionResult =
  | { readonly kind: 'attributed'; readonly bytes: Uint8Array; readonly contentEncoding: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Writes `ingest.token.id` and `ingest.token.name` into each Resource of a body. A gzip body is inflated, and
 * the result is not compressed. `maxBytes` limits the inflated body (P-8).
 *
 * Profiles are returned unchanged: their attribute keys may be references into a dictionary, so spoofed attributes
 * cannot be found without decoding it. Upstream can read the token of profiles from the request headers.
 */
export async function attributeBody(
  body: AttributionInput,
  token: TokenRecord,
  maxBytes: number,
): Promise<AttributionResult> {
  const { signal, contentEncoding } = body
  if (signal === 'profiles') return { kind: 'attributed', bytes: body.bytes, contentEncoding }
  try {
    const inflated = await inflatedBody(body, maxBytes)
    return {
      kind: 'attributed',
      bytes: splice(signal, body.encoding, inflated, token, maxBytes + MAX_GROWTH_BYTES),
      contentEncoding: '',
    }
  } catch (error) {
    if (!(error instanceof BodyRefused)) throw error
    return { kind: 'refused', refusal: { kind: error.kind, message: messageOf(error) } }
  }
}

function splice(
  signal: Signal,
  encoding: Encoding,
  bytes: Uint8Array,
  token: TokenRecord,
  maxBytes: number,
): Uint8Array {
  const attributes = ownerAttributesOf(token)
  return encoding === 'protobuf'
    ? spliceProtobuf(bytes, attributes.protobuf, maxBytes)
    : spliceJson(signal, bytes, attributes.json, maxBytes)
}

const messageOf = ({ kind, message }: BodyRefused): string =>
  kind === 'bad_body' ? `The body is not an OTLP export: ${message}.` : message

async function inflatedBody({ contentEncoding, bytes }: AttributionInput, maxBytes: number): Promise<Uint8Array> {
  if (contentEncoding === '' || contentEncoding === 'identity') return bytes
  if (contentEncoding !== 'gzip') {
    throw new BodyRefused(
      'unsupported_media_type',
      'The gateway cannot read the content encoding of the body. Use gzip, or send the body uncompressed.',
    )
  }
  const inflated = await gunzipBody(bytes, maxBytes)
  if (inflated === 'too_large') throw new BodyRefused('body_too_large', 'The inflated body is too large.')
  if (inflated === 'invalid') malformed('not valid gzip')
  return inflated
}
