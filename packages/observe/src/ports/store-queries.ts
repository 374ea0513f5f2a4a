import { heaviestMember, MAX_ANSWER_BYTES } from '@penstock/json'
import type { CompareQuery, InsightsQuery } from '../insights/insights-queries.ts'
import type { LiveQuery } from '../live/live-queries.ts'
import type { Page, Position, SearchedPage } from '../paging/cursor.ts'
import { toCursor } from '../paging/cursor.ts'
import { jsonWithin } from '../paging/json-bytes.ts'
import { AnswerTooLarge, ResponseBudget } from '../paging/response-budget.ts'
import type { LogQuery } from '../queries/log-queries.ts'
import type { MetricIntervalsQuery } from '../queries/metric-intervals.ts'
import type { MetricNameQuery, MetricQuery } from '../queries/metric-queries.ts'
import type { RunQuery } from '../queries/pipeline-queries.ts'
import type { TraceQuery } from '../queries/trace-queries.ts'
import type { TraceSpansQuery } from '../queries/trace-spans.ts'
import type { ObserveQueries } from './observe-queries.ts'

/** The questions that the store answers. */
export type StoreQuery =
  | { readonly kind: 'status' }
  | { readonly kind: 'services'; readonly after?: Position | undefined }
  | { readonly kind: 'runs'; readonly filter: RunQuery }
  | { readonly kind: 'run'; readonly traceId: string }
  | { readonly kind: 'facets'; readonly service?: string | undefined }
  | { readonly kind: 'traces'; readonly filter: TraceQuery }
  | ({ readonly kind: 'trace' } & TraceSpansQuery)
  | { readonly kind: 'metricNames'; readonly filter: MetricNameQuery }
  | { readonly kind: 'metric'; readonly filter: MetricQuery }
  | { readonly kind: 'metricIntervals'; readonly filter: MetricIntervalsQuery }
  | { readonly kind: 'logRecords'; readonly filter: LogQuery }
  | { readonly kind: 'live'; readonly query: LiveQuery }
  | { readonly kind: 'insights'; readonly filter: InsightsQuery }
  | { readonly kind: 'compare'; readonly filter: CompareQuery }

export interface StoreResponse {
  /** JSON; the text of events if the query is `live`. */
  readonly json: Uint8Array<ArrayBuffer>
  /** Whether the answer ends early, because the store has more than fits into one. */
  readonly isTruncated: boolean
  /** The cursor of the next page; `undefined` on the last one. */
  readonly nextCursor: string | undefined
}

/** The error for a query that a store cannot answer at all. */
export class QueryNotSupported extends Error {
  override readonly name = 'QueryNotSupported'

  constructor(kind: StoreQuery['kind']) {
    super(`this store does not support the query ${kind}`)
  }
}

/** An answer that would be too large. */
export interface TooLargeAnswer {
  /** The limit that it exceeds. */
  readonly maxBytes: number
  /** The member with the most text. */
  readonly member: string | undefined
  /** The cursor of the items after the one that is too large, if it belongs to a list with pages. */
  readonly nextCursor: string | undefined
}

/** The reply of a thread to a query; `undefined` if nothing is stored under the id that it asks for. */
export type StoreReply = StoreResponse | { readonly tooLarge: TooLargeAnswer } | undefined

/** The error for a query with an answer that would be too large. */
export class QueryTooLarge extends Error {
  override readonly name = 'QueryTooLarge'
  readonly answer: TooLargeAnswer

  constructor(answer: TooLargeAnswer) {
    super('the answer would be too large')
    this.answer = answer
  }
}

/** Returns the answer in a thread's reply. @throws QueryTooLarge */
export function answerIn(reply: StoreReply): StoreResponse | undefined {
  if (reply !== undefined && 'tooLarge' in reply) throw new QueryTooLarge(reply.tooLarge)
  return reply
}

/** Returns the memory that moves with a reply to another thread. */
export const transferredWith = (reply: StoreReply): readonly ArrayBuffer[] =>
  reply !== undefined && 'json' in reply ? [reply.json.buffer] : []

/** The limit for a trace, which is OTLP as it was sent. */
const MAX_TRACE_BYTES = 32 * 1024 * 1024
/** The part of an answer that is kept for what surrounds the items of a list. */
const RESERVED_BYTES = 64 * 1024

interface Found {
  /** A value, or its JSON. */
  readonly value?: unknown
  readonly json?: Uint8Array<ArrayBuffer> | undefined
  readonly isTruncated?: boolean
  readonly nextCursor?: string | undefined
}

/** Answers a query in a thread. */
export async function runStoreQuery(queries: ObserveQueries, query: StoreQuery): Promise<StoreReply> {
  if (query.kind === 'live') {
    // Written as text on this thread, so that the one that serves the clients only passes it on.
    const { text, position, hasMore } = await queries.live(query.query)
    return { json: new TextEncoder().encode(text), isTruncated: hasMore, nextCursor: position }
  }
  const maxBytes = query.kind === 'trace' ? MAX_TRACE_BYTES : MAX_ANSWER_BYTES
  const budget = new ResponseBudget(maxBytes - RESERVED_BYTES)
  try {
    const { value, json, nextCursor, isTruncated = budget.isTruncated } = await find(queries, query, budget)
    const answer = json ?? (value === undefined ? undefined : requiredJson(value, maxBytes))
    return answer && { json: answer, isTruncated, nextCursor }
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error
    const { member, position } = error
    const list = listNames[query.kind]
    const nextCursor = list !== undefined && position !== undefined ? toCursor(list, position) : undefined
    return { tooLarge: { maxBytes, member, nextCursor } }
  }
}

/** The names of lists with pages in their cursors. */
const listNames: Partial<Record<StoreQuery['kind'], string>> = {
  services: 'services',
  runs: 'pipelines',
  traces: 'traces',
  trace: 'trace',
  metricNames: 'metric_names',
  logRecords: 'logs',
}

/** Returns the JSON of a value. @throws AnswerTooLarge */
function requiredJson(value: unknown, maxBytes: number): Uint8Array<ArrayBuffer> {
  const json = jsonWithin(value, maxBytes)
  if (json === undefined) throw new AnswerTooLarge(heaviestMember(value))
  return json
}

async function find(
  queries: ObserveQueries,
  query: Exclude<StoreQuery, { kind: 'live' }>,
  budget: ResponseBudget,
): Promise<Found> {
  switch (query.kind) {
    case 'status':
      return { value: await queries.status() }
    case 'services':
      return paged('services', await queries.services(query.after, budget))
    case 'runs':
      return searched('pipelines', await queries.runs(query.filter, budget))
    case 'run':
      return { value: await queries.run(query.traceId) }
    case 'facets':
      return { value: await queries.facets(query.service, budget) }
    case 'traces':
      return paged('traces', await queries.traces(query.filter, budget))
    case 'trace': {
      const found = await queries.trace(query, budget)
      return { json: found?.json, nextCursor: found?.next && toCursor('trace', found.next) }
    }
    case 'metricNames':
      return paged('metric_names', await queries.metricNames(query.filter, budget))
    case 'metric':
      return { value: await queries.metric(query.filter, budget) }
    case 'metricIntervals':
      return { value: await queries.metricIntervals(query.filter, budget) }
    case 'logRecords':
      return searched('logs', await queries.logRecords(query.filter, budget))
    case 'insights':
      return { value: await queries.insights(query.filter) }
    case 'compare':
      return { value: await queries.compare(query.filter) }
  }
}

const paged = (list: string, { items, next }: Page<unknown>): Found => ({
  value: items,
  nextCursor: next && toCursor(list, next),
})

const searched = (list: string, { isLate, ...page }: SearchedPage<unknown>): Found => ({
  ...paged(list, page),
  ...(isLate && { isTruncated: true }),
})
