import type { Kysely } from 'kysely'
import { AnswerSpace } from './answer-space.ts'
import { type LogQuery, listLogRecords } from './log-queries.ts'
import { findMetric, listMetricNames, type MetricQuery } from './metric-queries.ts'
import type { StoreBounds } from './observe-limits.ts'
import { listServices } from './service-queries.ts'
import { storeStatus } from './status.ts'
import type { ObserveTables } from './tables.ts'
import { findTrace, listTraces, type TraceQuery } from './trace-queries.ts'

/** The questions that the store answers. */
export type Question =
  | { readonly about: 'status' }
  | { readonly about: 'services' }
  | { readonly about: 'traces'; readonly query: TraceQuery }
  | { readonly about: 'trace'; readonly traceId: string; readonly maxSpans: number }
  | { readonly about: 'metricNames'; readonly query: { readonly service?: string | undefined; readonly limit: number } }
  | { readonly about: 'metric'; readonly query: MetricQuery }
  | { readonly about: 'logRecords'; readonly query: LogQuery }

export interface Answer {
  readonly json: Uint8Array<ArrayBuffer>
  /** The store has more than fits into the answer. */
  readonly isTruncated: boolean
}

/** The limit on the stored texts in one answer. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

/** Answers a question; `undefined` if nothing is stored under the id that it asks for. Blocks its thread during the query. */
export async function answerQuestion(
  db: Kysely<ObserveTables>,
  question: Question,
  bounds: StoreBounds,
): Promise<Answer | undefined> {
  const space = new AnswerSpace(MAX_ANSWER_BYTES)
  const found = await find(db, question, bounds, space)
  if (found === undefined) return undefined
  return { json: new TextEncoder().encode(JSON.stringify(found)), isTruncated: space.isTruncated }
}

function find(
  db: Kysely<ObserveTables>,
  question: Question,
  bounds: StoreBounds,
  space: AnswerSpace,
): Promise<unknown> {
  switch (question.about) {
    case 'status':
      return storeStatus(db, bounds)
    case 'services':
      return listServices(db, space)
    case 'traces':
      return listTraces(db, question.query, space)
    case 'trace':
      return findTrace(db, question.traceId, question.maxSpans, space)
    case 'metricNames':
      return listMetricNames(db, question.query, space)
    case 'metric':
      return findMetric(db, question.query, space)
    case 'logRecords':
      return listLogRecords(db, question.query, space)
  }
}
