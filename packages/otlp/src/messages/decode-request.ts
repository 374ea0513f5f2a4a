import { exceededJsonLimit, type JsonLimits, jsonExcess } from '@penstock/json'
import { refuse, reportingRefusals, within } from '../bytes/decode-error.ts'
import { DecodeBudget, type DecodeLimits } from '../bytes/decode-limits.ts'
import { modelFromJson } from '../json/json-decode.ts'
import { type SignalRow, signals } from '../model/signals.ts'
import type { ItemBySignal, OtlpRequest, Signal } from '../model/types.ts'
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

/**
 * Decodes a body as `decodeRequest` does, and yields after each `itemsPerStep` spans, metrics or log records of a JSON body, so
 * that the caller can do other work in between. Protobuf is decoded in one step.
 */
export function* decodeRequestInSteps<S extends Signal>(
  signal: S,
  bytes: Uint8Array,
  encoding: Encoding,
  { itemsPerStep, ...limits }: Partial<DecodeLimits> & { readonly itemsPerStep: number },
): Generator<void, OtlpRequest<S>> {
  if (encoding === 'protobuf') return decodeRequest(signal, bytes, encoding, limits)
  const budget = reportingRefusals(() => new DecodeBudget(limits, bytes.length))
  const json = reportingRefusals(() => parseJson(bytes, budget.json))
  yield
  const long = takeLongLists(json, signals[signal].json, itemsPerStep)
  const request = reportingRefusals(() => modelFromJson<OtlpRequest<S>>(schema[signal].request, json, budget))
  const { item } = schema[signal]
  for (const { list, path, resource, scope } of long) {
    const items = request.resources[resource]!.scopes[scope]!.items as ItemBySignal[S][]
    for (let from = 0; from < list.length; from += itemsPerStep) {
      reportingRefusals(() => {
        for (const element of list.slice(from, from + itemsPerStep)) {
          items.push(elementFromJson(item, element, budget, { list: path, index: items.length }))
        }
      })
      yield
    }
  }
  return request
}

/** A list of items that was taken out of a request. */
interface LongList {
  readonly list: readonly unknown[]
  readonly path: string
  /** The indexes of the groups that the list belongs to. */
  readonly resource: number
  readonly scope: number
}

/** Takes the lists with more than `most` items out of a parsed request, which keeps empty lists in their place. */
function takeLongLists(json: unknown, names: SignalRow['json'], most: number): LongList[] {
  const long: LongList[] = []
  for (const [resource, resourceGroup] of listIn(json, names.resources).entries()) {
    for (const [scope, scopeGroup] of listIn(resourceGroup, names.scopes).entries()) {
      const list = listIn(scopeGroup, names.items)
      if (list.length <= most) continue
      ;(scopeGroup as Record<string, unknown>)[names.items] = []
      long.push({
        list,
        path: `${names.resources}[${resource}].${names.scopes}[${scope}].${names.items}`,
        resource,
        scope,
      })
    }
  }
  return long
}

/** Returns the list `name` of a parsed object; an empty one for anything else, which the decoder refuses. */
function listIn(json: unknown, name: string): readonly unknown[] {
  const list = typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined
  return Array.isArray(list) ? list : []
}

function elementFromJson<T>(
  message: Message<T>,
  json: unknown,
  budget: DecodeBudget,
  { list, index }: { readonly list: string; readonly index: number },
): T {
  try {
    budget.takeElement()
    return modelFromJson(message, json, budget)
  } catch (error) {
    throw within(error, `${list}[${index}]`)
  }
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
