import { createHash } from 'node:crypto'
import {
  encodeRequest,
  type KeyValue,
  type LogRecord,
  type Metric,
  type OtlpRequest,
  type Signal,
  type Span,
  StatusCode,
  signals,
} from '@penstock/otlp'

/** One request, taken apart into what becomes rows. */
export interface Arrival {
  readonly spans: readonly SpanDraft[]
  readonly logRecords: readonly LogRecordDraft[]
  readonly points: readonly PointDraft[]
  /** Spans that have no place in any trace. */
  readonly rejectedSpans: number
}

/** Whose it is: the service, and the groups around it. */
export interface Place {
  readonly service: string
  readonly resource: Document
  readonly scope: Document
}

/** A text that many items share. */
export interface Document {
  readonly key: string
  readonly json: string
}

export interface SpanDraft {
  readonly place: Place
  readonly traceId: string
  readonly parentSpanId: string
  readonly name: string
  readonly statusCode: number
  readonly isError: boolean
  readonly startNs: bigint
  readonly endNs: bigint
  readonly json: string
}

export interface LogRecordDraft {
  readonly place: Place
  readonly timeNs: bigint
  readonly severityNumber: number
  readonly traceId: string
  readonly json: string
}

export interface SeriesDraft {
  readonly key: string
  readonly place: Place
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly type: string
  readonly aggregationTemporality: number | null
  readonly isMonotonic: boolean | null
  readonly attributesJson: string
}

export interface PointDraft {
  readonly series: SeriesDraft
  readonly timeNs: bigint
  readonly json: string
}

/** What semantic conventions call a service that does not say its name. */
export const UNKNOWN_SERVICE = 'unknown_service'

const MAX_SQL_INTEGER = 2n ** 63n - 1n

/** Part of a parsed OTLP/JSON request. The model beside it says what is in there; this is what it looks like. */
type Tree = { readonly [key: string]: unknown }

/**
 * Takes a decoded request apart. What is kept as JSON is canonical OTLP/JSON, whichever encoding it came in: 64-bit
 * integers are text there, so nothing loses precision.
 */
export function toArrival(signal: Signal, request: OtlpRequest, arrivedNs: bigint): Arrival {
  const draft = { spans: [] as SpanDraft[], logRecords: [] as LogRecordDraft[], points: [] as PointDraft[] }
  let rejectedSpans = 0
  for (const { place, item, tree } of placedItems(signal, request)) {
    if (signal === 'metrics') {
      for (const point of pointsOf(place, item as Metric, tree)) draft.points.push(point)
    } else if (signal === 'logs') draft.logRecords.push(logRecordOf(place, item as LogRecord, tree, arrivedNs))
    else if (hasPlaceInTrace(item as Span)) draft.spans.push(spanOf(place, item as Span, tree))
    else rejectedSpans += 1
  }
  return { ...draft, rejectedSpans }
}

export const rowsOf = ({ spans, logRecords, points }: Arrival): number =>
  spans.length + logRecords.length + points.length

function* placedItems(signal: Signal, request: OtlpRequest) {
  const names = signals[signal].json
  const text = Buffer.from(encodeRequest(signal, request, 'json')).toString()
  const resourceTrees = treesOf(JSON.parse(text), names.resources)
  for (const [resourceIndex, group] of request.resources.entries()) {
    const resourceTree = resourceTrees[resourceIndex]!
    const resource = documentOf(resourceTree, names.scopes, 'resource')
    const service = serviceName(group.resource.attributes)
    const scopeTrees = treesOf(resourceTree, names.scopes)
    for (const [scopeIndex, { items }] of group.scopes.entries()) {
      const scopeTree = scopeTrees[scopeIndex]!
      const place: Place = { service, resource, scope: documentOf(scopeTree, names.items, 'scope') }
      const itemTrees = treesOf(scopeTree, names.items)
      for (const [index, item] of items.entries()) yield { place, item, tree: itemTrees[index]! }
    }
  }
}

/** The list `name` of a message; canonical JSON leaves an empty one out. */
const treesOf = (tree: Tree, name: string): Tree[] => (tree[name] ?? []) as Tree[]

function serviceName(attributes: readonly KeyValue[]): string {
  const named = attributes.find(({ key }) => key === 'service.name')
  return named?.type === 'string' && named.value !== '' ? named.value : UNKNOWN_SERVICE
}

/** A resource or scope group without its list. */
function documentOf(group: Tree, listName: string, subject: 'resource' | 'scope'): Document {
  const { [listName]: _, ...rest } = group
  const { attributes, ...others } = (rest[subject] ?? {}) as Tree
  const key = hash([subject, rest.schemaUrl ?? '', others, inOrderOfKeys(attributes)])
  return { key, json: JSON.stringify(rest) }
}

const hasPlaceInTrace = ({ traceId, spanId }: Span): boolean => traceId !== '' && spanId !== ''

function logRecordOf(place: Place, record: LogRecord, tree: Tree, arrivedNs: bigint): LogRecordDraft {
  const { timeUnixNano, observedTimeUnixNano, severityNumber, traceId } = record
  const timeNs = sqlInteger(timeUnixNano || observedTimeUnixNano || arrivedNs)
  return { place, timeNs, severityNumber, traceId, json: JSON.stringify(tree) }
}

function spanOf(place: Place, span: Span, tree: Tree): SpanDraft {
  const statusCode = span.status?.code ?? StatusCode.UNSET
  return {
    place,
    traceId: span.traceId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    statusCode,
    isError: statusCode === StatusCode.ERROR,
    startNs: sqlInteger(span.startTimeUnixNano),
    endNs: sqlInteger(span.endTimeUnixNano),
    json: JSON.stringify(tree),
  }
}

function* pointsOf(place: Place, { name, description, unit, data }: Metric, tree: Tree): Generator<PointDraft> {
  if (data === undefined) return
  const { type } = data
  const aggregationTemporality = 'aggregationTemporality' in data ? data.aggregationTemporality : null
  const isMonotonic = 'isMonotonic' in data ? data.isMonotonic : null
  const about = { place, name, description, unit, type, aggregationTemporality, isMonotonic }
  const identity = [name, unit, type, aggregationTemporality, isMonotonic, place.resource.key, place.scope.key]
  const pointTrees = treesOf((tree[type] ?? {}) as Tree, 'dataPoints')
  for (const [index, { timeUnixNano }] of data.dataPoints.entries()) {
    const { attributes, ...point } = pointTrees[index]!
    const series = {
      ...about,
      key: hash([...identity, inOrderOfKeys(attributes)]),
      attributesJson: JSON.stringify(attributes ?? []),
    }
    yield { series, timeNs: sqlInteger(timeUnixNano), json: JSON.stringify(point) }
  }
}

/** OTLP gives the order of attributes no meaning, and a source may change it from one export to the next. */
function inOrderOfKeys(attributes: unknown): unknown[] {
  const list = (attributes ?? []) as { key?: string }[]
  return list.toSorted(({ key: a = '' }, { key: b = '' }) => (a < b ? -1 : a > b ? 1 : 0))
}

const hash = (tuple: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(tuple)).digest('base64url')

const sqlInteger = (value: bigint): bigint => (value > MAX_SQL_INTEGER ? MAX_SQL_INTEGER : value)
