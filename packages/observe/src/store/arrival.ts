import { createHash } from 'node:crypto'
import {
  type ItemBySignal,
  isSpanId,
  isTraceId,
  type KeyValue,
  type LogRecord,
  type Metric,
  type OtlpRequest,
  RequestEncoder,
  type ResourceGroup,
  type ScopeGroup,
  type Signal,
  type Span,
  StatusCode,
  signals,
} from '@penstock/otlp'
import { type PipelineSpan, type SpanFields, toPipelineSpan } from '../runs/pipeline-span.ts'
import { toSqlInteger } from '../schema/time-range.ts'
import { attributePairs } from './attribute-pairs.ts'
import { withValidIds } from './valid-ids.ts'

/** The contents of one request, split into the drafts of rows. */
export interface Arrival {
  readonly spans: readonly SpanDraft[]
  readonly logRecords: readonly LogRecordDraft[]
  readonly points: readonly PointDraft[]
  /** The number of spans without a valid trace id or span id. */
  readonly rejectedSpans: number
}

/** The service of an item, and the resource and scope around it. */
export interface ItemContext {
  readonly service: string
  readonly resource: Document
  readonly scope: Document
}

/** A resource or scope, which many items share. */
export interface Document {
  readonly key: string
  readonly json: string
  /** The hashes of its attributes. */
  readonly attributePairs: readonly number[]
}

export interface SpanDraft extends SpanFields {
  readonly context: ItemContext
  readonly statusCode: number
  /** The run, job or stage that the span represents; `undefined` for spans that are not of a CI system. */
  readonly pipelineSpan: PipelineSpan | undefined
  /** The hashes of its attributes. */
  readonly attributePairs: readonly number[]
  readonly json: string
}

export interface LogRecordDraft {
  readonly context: ItemContext
  readonly timeNs: bigint
  readonly severityNumber: number
  readonly traceId: string
  readonly json: string
}

export interface SeriesDraft {
  readonly key: string
  readonly context: ItemContext
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

/** The name that semantic conventions give a service without a name. */
export const UNKNOWN_SERVICE = 'unknown_service'

/** A part of a parsed OTLP/JSON request. The decoded item beside it has the same content with types. */
type Tree = { readonly [key: string]: unknown }

/**
 * Yields the items of a request in parts of `maxRows` rows or a few more. Items keep the form of OTLP/JSON, so they keep
 * their precision.
 */
export function* arrivalSlices(
  signal: Signal,
  request: OtlpRequest,
  arrivedNs: bigint,
  maxRows: number,
): Generator<Arrival, undefined> {
  let slice = newSlice()
  let rows = 0
  for (const { context, item, tree } of itemsWithContext(signal, request)) {
    if (signal === 'metrics') {
      for (const point of pointsOf(context, item as Metric, tree)) {
        slice.points.push(point)
        rows += 1
      }
    } else {
      rows += 1
      if (signal === 'logs') slice.logRecords.push(logRecordOf(context, item as LogRecord, tree, arrivedNs))
      else if (hasSpanIdentity(item as Span)) slice.spans.push(spanOf(context, item as Span, tree))
      else slice.rejectedSpans += 1
    }
    if (rows < maxRows) continue
    yield slice
    slice = newSlice()
    rows = 0
  }
  if (rows > 0) yield slice
}

const newSlice = () => ({
  spans: [] as SpanDraft[],
  logRecords: [] as LogRecordDraft[],
  points: [] as PointDraft[],
  rejectedSpans: 0,
})

/** Returns the number of rows that a request becomes, without those that are rejected. */
export function rowsIn({ resources }: OtlpRequest): number {
  let rows = 0
  for (const { scopes } of resources as readonly ResourceGroup<Item>[]) {
    for (const { items } of scopes) {
      for (const item of items) rows += 'data' in item ? pointsIn(item) : 1
    }
  }
  return rows
}

export const countRows = ({ spans, logRecords, points }: Arrival): number =>
  spans.length + logRecords.length + points.length

/** How many items are serialised and parsed at a time; each point of a metric is counted as one. */
const ITEMS_PER_PART = 1_000

type Item = ItemBySignal[Signal]
const noResource = { attributes: [], droppedAttributesCount: 0 }
const noScope = { name: '', version: '', attributes: [], droppedAttributesCount: 0 }

interface ItemWithContext {
  readonly context: ItemContext
  readonly item: Item
  readonly tree: Tree
}

/** Yields every item with its context and its canonical OTLP/JSON. Only a few items are held as JSON at a time. */
function* itemsWithContext(signal: Signal, request: OtlpRequest): Generator<ItemWithContext> {
  const names = signals[signal].json
  const encoder = new RequestEncoder('json')
  const resourceTree = (group: ResourceGroup<Item>): Tree => {
    const text = Buffer.from(encoder.encode(signal, { resources: [group] } as OtlpRequest)).toString()
    return treesOf(JSON.parse(text), names.resources)[0]!
  }
  const scopeTree = (group: ScopeGroup<Item>): Tree =>
    treesOf(resourceTree({ resource: noResource, scopes: [group], schemaUrl: '' }), names.scopes)[0]!
  for (const { scopes, ...around } of request.resources as readonly ResourceGroup<Item>[]) {
    if (scopes.every(({ items }) => items.length === 0)) continue
    const service = serviceName(around.resource.attributes)
    const resource = documentOf(resourceTree({ ...around, scopes: [] }), names.scopes, 'resource')
    for (const group of scopes) {
      if (group.items.length === 0) continue
      const scope = documentOf(scopeTree({ ...group, items: [] }), names.items, 'scope')
      const context: ItemContext = { service, resource, scope }
      for (const items of partsOf(group.items)) {
        const trees = treesOf(scopeTree({ scope: noScope, items, schemaUrl: '' }), names.items)
        for (const [index, item] of items.entries()) yield { context, item, tree: trees[index]! }
      }
    }
  }
}

/** Yields the items in parts. A metric with more points than fit into a part becomes several metrics. */
function* partsOf(items: readonly Item[]): Generator<Item[]> {
  let part: Item[] = []
  let weight = 0
  for (const item of items) {
    for (const piece of piecesOf(withValidIds(item))) {
      part.push(piece)
      weight += 1 + pointsIn(piece)
      if (weight < ITEMS_PER_PART) continue
      yield part
      part = []
      weight = 0
    }
  }
  if (part.length > 0) yield part
}

const pointsIn = (item: Item): number => ('data' in item ? (item.data?.dataPoints.length ?? 0) : 0)

function* piecesOf(item: Item): Generator<Item> {
  const points = pointsIn(item)
  if (points <= ITEMS_PER_PART) return yield item
  const { data, ...about } = item as Metric
  for (let at = 0; at < points; at += ITEMS_PER_PART) {
    const dataPoints = data!.dataPoints.slice(at, at + ITEMS_PER_PART)
    yield { ...about, data: { ...data, dataPoints } } as Metric
  }
}

/** Returns the list `name` of a message; canonical JSON omits an empty one. */
const treesOf = (tree: Tree, name: string): Tree[] => (tree[name] ?? []) as Tree[]

function serviceName(attributes: readonly KeyValue[]): string {
  const named = attributes.find(({ key }) => key === 'service.name')
  return named?.type === 'string' && named.value !== '' ? named.value : UNKNOWN_SERVICE
}

/** Returns the document for a resource or scope group without its list of items. */
function documentOf(group: Tree, listName: string, subject: 'resource' | 'scope'): Document {
  const { [listName]: _, ...rest } = group
  const { attributes, ...others } = (rest[subject] ?? {}) as Tree
  const key = hash([subject, rest.schemaUrl ?? '', others, inOrderOfKeys(attributes)])
  return { key, json: JSON.stringify(rest), attributePairs: attributePairs(attributes) }
}

const hasSpanIdentity = ({ traceId, spanId }: Span): boolean => isTraceId(traceId) && isSpanId(spanId)

function logRecordOf(context: ItemContext, record: LogRecord, tree: Tree, arrivedNs: bigint): LogRecordDraft {
  const { timeUnixNano, observedTimeUnixNano, severityNumber, traceId } = record
  const timeNs = toSqlInteger(timeUnixNano || observedTimeUnixNano || arrivedNs)
  return { context, timeNs, severityNumber, traceId, json: JSON.stringify(tree) }
}

function spanOf(context: ItemContext, span: Span, tree: Tree): SpanDraft {
  const statusCode = span.status?.code ?? StatusCode.UNSET
  const fields: SpanFields = {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    isError: statusCode === StatusCode.ERROR,
    startNs: toSqlInteger(span.startTimeUnixNano),
    endNs: toSqlInteger(span.endTimeUnixNano),
  }
  const pipelineSpan = toPipelineSpan(fields, tree.attributes, context.resource.json)
  return {
    context,
    ...fields,
    statusCode,
    pipelineSpan,
    attributePairs: attributePairs(tree.attributes),
    json: JSON.stringify(tree),
  }
}

function* pointsOf(context: ItemContext, { name, description, unit, data }: Metric, tree: Tree): Generator<PointDraft> {
  if (data === undefined) return
  const { type } = data
  const aggregationTemporality = 'aggregationTemporality' in data ? data.aggregationTemporality : null
  const isMonotonic = 'isMonotonic' in data ? data.isMonotonic : null
  const about = { context, name, description, unit, type, aggregationTemporality, isMonotonic }
  const identity = [name, unit, type, aggregationTemporality, isMonotonic, context.resource.key, context.scope.key]
  const pointTrees = treesOf((tree[type] ?? {}) as Tree, 'dataPoints')
  const known = new Map<string, SeriesDraft>()
  for (const [index, { timeUnixNano }] of data.dataPoints.entries()) {
    const { attributes, ...point } = pointTrees[index]!
    const attributesJson = JSON.stringify(attributes ?? [])
    const series = known.get(attributesJson) ?? {
      ...about,
      key: hash([...identity, inOrderOfKeys(attributes)]),
      attributesJson,
    }
    known.set(attributesJson, series)
    yield { series, timeNs: toSqlInteger(timeUnixNano), json: JSON.stringify(point) }
  }
}

/** Sorts attributes by key: OTLP gives their order no meaning, and a source may change it from one export to the next. */
function inOrderOfKeys(attributes: unknown): unknown[] {
  const list = (attributes ?? []) as { key?: string }[]
  return list.toSorted(({ key: a = '' }, { key: b = '' }) => (a < b ? -1 : a > b ? 1 : 0))
}

const hash = (tuple: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(tuple)).digest('base64url')
