import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnyValue, Encoding, KeyValue, OtlpRequest, ResourceGroup, ScopeGroup, Signal } from '@penstock/otlp'
import Long from 'long'
import protobuf, { type Message, type Type } from 'protobufjs'

/**
 * Reads OTLP with protobufjs and a hand-written schema into our model. It shares no code with our decoder, so that tests
 * detect a mistake that both our encoder and our decoder make.
 */
export function readIndependently<S extends Signal>(signal: S, bytes: Uint8Array, encoding: Encoding): OtlpRequest<S> {
  const { type } = requests[signal]
  const message = encoding === 'protobuf' ? type.decode(bytes) : type.fromObject(parseJson(bytes))
  return requestModel(signal, message as unknown as Fields) as OtlpRequest<S>
}

/** Returns the length of the message when protobufjs writes it. It is shorter if the bytes have fields beyond the schema. */
export function rewrittenLength(signal: Signal, bytes: Uint8Array): number {
  const { type } = requests[signal]
  return type.encode(type.decode(bytes)).finish().length
}

/** A message object of protobufjs: its own properties are the fields that were present, its prototype has the defaults. */
// biome-ignore lint/suspicious/noExplicitAny: a message of any type of the schema
type Fields = Message & Record<string, any>

// Set explicitly, because protobufjs loads Long with require, which fails under the import conditions of the tests.
protobuf.util.Long = Long
protobuf.configure()

const { root } = protobuf.parse(readFileSync(join(import.meta.dirname, 'otlp-subset.proto'), 'utf8'))
root.resolveAll()

const requests = {
  traces: { type: typeOf('ExportTraceServiceRequest'), groups: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' },
  metrics: {
    type: typeOf('ExportMetricsServiceRequest'),
    groups: 'resourceMetrics',
    scopes: 'scopeMetrics',
    items: 'metrics',
  },
  logs: { type: typeOf('ExportLogsServiceRequest'), groups: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords' },
} as const

function typeOf(name: string): Type {
  return root.lookupType(name)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const idFields = new Set(['traceId', 'spanId', 'parentSpanId'])

/** Parses OTLP/JSON. Ids are converted, because OTLP/JSON has them in hex and proto3 JSON in base64. */
function parseJson(bytes: Uint8Array): { [key: string]: unknown } {
  return JSON.parse(utf8.decode(bytes), (key, value) => (idFields.has(key) ? Buffer.from(value, 'hex') : value))
}

function requestModel(signal: Signal, request: Fields) {
  const { groups, scopes, items } = requests[signal]
  const itemModel = { traces: span, metrics: metric, logs: logRecord }[signal]
  return {
    resources: request[groups].map(
      (group: Fields): ResourceGroup<unknown> => ({
        resource: {
          attributes: attributes(group.resource.attributes),
          droppedAttributesCount: group.resource.droppedAttributesCount,
        },
        scopes: group[scopes].map(
          (scopeGroup: Fields): ScopeGroup<unknown> => ({
            scope: {
              name: scopeGroup.scope.name,
              version: scopeGroup.scope.version,
              attributes: attributes(scopeGroup.scope.attributes),
              droppedAttributesCount: scopeGroup.scope.droppedAttributesCount,
            },
            items: scopeGroup[items].map(itemModel),
            schemaUrl: scopeGroup.schemaUrl,
          }),
        ),
        schemaUrl: group.schemaUrl,
      }),
    ),
  }
}

function span(fields: Fields) {
  return {
    ...ids(fields),
    traceState: fields.traceState,
    parentSpanId: hex(fields.parentSpanId),
    flags: fields.flags,
    name: fields.name,
    kind: fields.kind,
    startTimeUnixNano: integer(fields.startTimeUnixNano),
    endTimeUnixNano: integer(fields.endTimeUnixNano),
    attributes: attributes(fields.attributes),
    droppedAttributesCount: fields.droppedAttributesCount,
    events: fields.events,
    droppedEventsCount: fields.droppedEventsCount,
    links: fields.links.map((link: Fields) => ({
      ...ids(link),
      traceState: link.traceState,
      attributes: attributes(link.attributes),
      droppedAttributesCount: link.droppedAttributesCount,
      flags: link.flags,
    })),
    droppedLinksCount: fields.droppedLinksCount,
    status: has(fields, 'status') ? { message: fields.status.message, code: fields.status.code } : undefined,
  }
}

function metric(fields: Fields) {
  return {
    name: fields.name,
    description: fields.description,
    unit: fields.unit,
    data: metricData(fields),
    metadata: attributes(fields.metadata),
  }
}

function metricData(metric: Fields) {
  const fields = metric[metric.data]
  switch (metric.data as string | undefined) {
    case 'gauge':
      return { type: 'gauge', dataPoints: fields.dataPoints.map(numberPoint) }
    case 'sum':
      return {
        type: 'sum',
        dataPoints: fields.dataPoints.map(numberPoint),
        aggregationTemporality: fields.aggregationTemporality,
        isMonotonic: fields.isMonotonic,
      }
    case 'histogram':
      return {
        type: 'histogram',
        dataPoints: fields.dataPoints.map(histogramPoint),
        aggregationTemporality: fields.aggregationTemporality,
      }
    default:
      return undefined
  }
}

const pointFrame = (fields: Fields) => ({
  attributes: attributes(fields.attributes),
  startTimeUnixNano: integer(fields.startTimeUnixNano),
  timeUnixNano: integer(fields.timeUnixNano),
  exemplars: fields.exemplars.map((exemplar: Fields) => ({
    filteredAttributes: attributes(exemplar.filteredAttributes),
    timeUnixNano: integer(exemplar.timeUnixNano),
    value: numberValue(exemplar),
    ...ids(exemplar),
  })),
  flags: fields.flags,
})

const numberPoint = (fields: Fields) => ({ ...pointFrame(fields), value: numberValue(fields) })

const histogramPoint = (fields: Fields) => ({
  ...pointFrame(fields),
  count: integer(fields.count),
  sum: optional(fields, 'sum'),
  bucketCounts: fields.bucketCounts.map(integer),
  explicitBounds: fields.explicitBounds,
  min: optional(fields, 'min'),
  max: optional(fields, 'max'),
})

function logRecord(fields: Fields) {
  return {
    timeUnixNano: integer(fields.timeUnixNano),
    observedTimeUnixNano: integer(fields.observedTimeUnixNano),
    severityNumber: fields.severityNumber,
    severityText: fields.severityText,
    body: has(fields, 'body') ? anyValue(fields.body) : undefined,
    attributes: attributes(fields.attributes),
    droppedAttributesCount: fields.droppedAttributesCount,
    flags: fields.flags,
    ...ids(fields),
    eventName: fields.eventName,
  }
}

function attributes(list: readonly Fields[]): KeyValue[] {
  return list.map(({ key, value }) => ({ key, ...anyValue(value) }))
}

function anyValue(fields: Fields): AnyValue {
  switch (fields.value as string | undefined) {
    case 'stringValue':
      return { type: 'string', value: fields.stringValue }
    case 'boolValue':
      return { type: 'bool', value: fields.boolValue }
    case 'intValue':
      return { type: 'int', value: integer(fields.intValue) }
    case 'doubleValue':
      return { type: 'double', value: fields.doubleValue }
    case 'arrayValue':
      return { type: 'array', value: fields.arrayValue.values.map(anyValue) }
    default:
      return { type: 'empty', value: undefined }
  }
}

function numberValue(fields: Fields) {
  switch (fields.value as string | undefined) {
    case 'asInt':
      return { type: 'int', value: integer(fields.asInt) }
    case 'asDouble':
      return { type: 'double', value: fields.asDouble }
    default:
      return undefined
  }
}

const ids = ({ traceId, spanId }: Fields) => ({ traceId: hex(traceId), spanId: hex(spanId) })
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
/** Converts a `Long`, or a number in JSON, to a bigint. */
const integer = (value: { toString(): string }): bigint => BigInt(value.toString())
const has = (fields: Fields, name: string): boolean => Object.hasOwn(fields, name) && fields[name] !== null
const optional = (fields: Fields, name: string) => (has(fields, name) ? fields[name] : undefined)
