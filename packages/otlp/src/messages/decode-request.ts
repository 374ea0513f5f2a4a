import { exceededJsonLimit, type JsonLimits, jsonExcess } from '@penstock/json'
import { refuse, reportingRefusals } from '../bytes/decode-error.ts'
import { DecodeBudget, type DecodeLimits } from '../bytes/decode-limits.ts'
import { modelFromJson } from '../json/json-decode.ts'
import type { OtlpRequest, Signal } from '../model/types.ts'
import { readMessage } from '../protobuf/protobuf-decode.ts'
import type { Message } from '../schema/field.ts'
import { ProtobufReader } from '../schema/protobuf-reader.ts'
import { schema } from '../schema/schema.ts'
import type { Encoding } from './encoding.ts'

/**
 * Decodes a body as an Export*ServiceRequest.
 *
 * Wrong types, wrong lengths of ids, integers out of range, invalid UTF-8 and exceeded limits throw `OtlpDecodeError`
 * with the path. The decoder is lenient where OTLP requires it: unknown fields are skipped, 64-bit integers in JSON may
 * be numbers, hex digits may be upper case, packed fields may be unpacked. Missing ids are not checked.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function decodeRequest<S extends Signal>(
  signal: S,
  bytes: Uint8Array,
  encoding: Encoding,
  limits: Partial<DecodeLimits> = {},
): OtlpRequest<S> {
  return decodeMessage(schema[signal].request as Message<OtlpRequest<S>>, bytes, encoding, limits)
}

/** Decodes any message of a table. Requests are decoded by `decodeRequest`. */
export function decodeMessage<T>(
  message: Message<T>,
  bytes: Uint8Array,
  encoding: Encoding,
  limits: Partial<DecodeLimits> = {},
): T {
  return reportingRefusals(() => {
    const budget = new DecodeBudget(limits, bytes.length)
    return encoding === 'protobuf'
      ? readMessage(message, new ProtobufReader(bytes, budget))
      : modelFromJson(message, parseJson(bytes, budget.json), budget)
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses JSON after counting its bytes: a few kilobytes of compressed brackets can become gigabytes of objects. */
function parseJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  const exceeded = exceededJsonLimit(bytes, limits)
  if (exceeded !== undefined) return refuse(`JSON ${jsonExcess(exceeded, limits[exceeded])}`)
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return refuse('not JSON in UTF-8')
  }
}
