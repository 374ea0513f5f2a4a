import { MAX_ANSWER_BYTES } from '@penstock/json'
import { type Kysely, sql } from 'kysely'
import type { Page, Position } from '../paging/cursor.ts'
import { AnswerTooLarge, type ResponseBudget } from '../paging/response-budget.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { WHOLE_TRACE } from '../store/arrival-store.ts'
import type { RunSummary } from './pipeline-queries.ts'
import { findServiceId } from './service-queries.ts'
import { searchTraces, type TraceFilter, toPosition } from './trace-search.ts'

export interface TraceQuery extends TraceFilter {
  readonly limit: number
  readonly after?: Position | undefined
}

export interface TraceSummary {
  readonly trace_id: string
  readonly start_time_unix_nano: string
  /** The end of the span that ends last. */
  readonly end_time_unix_nano: string
  /** The number of spans received; the oldest of them may have been deleted. */
  readonly spans: number
  /** The number of spans with the status error. A failed job makes the spans above it fail too, so `run` has the number of failed jobs. */
  readonly errors: number
  readonly services: readonly string[]
  /** The earliest span without a parent; `null` until one arrives. */
  readonly root: { readonly name: string; readonly service: string; readonly status_code: number } | null
  /** The pipeline run at the root of the trace; `null` if it is the trace of something else. */
  readonly run: TraceRun | null
}

/** The part of a pipeline run that a list of traces shows. */
export type TraceRun = Pick<RunSummary, (typeof traceRunColumns)[number]>

export const traceRunColumns = ['project', 'name', 'pipeline_id', 'ref', 'status', 'jobs_failed'] as const

/** Returns traces, the latest start first. */
export async function listTraces(
  db: Kysely<ObserveTables>,
  query: TraceQuery,
  budget: ResponseBudget,
): Promise<Page<TraceSummary>> {
  const serviceId = query.service === undefined ? WHOLE_TRACE : await findServiceId(db, query.service)
  if (serviceId === undefined) return { items: [], next: undefined }
  const page = await searchTraces(db, serviceId, query, { limit: query.limit, after: query.after })
  const items: TraceSummary[] = []
  let last: Position | undefined
  for (const match of page.items) {
    const { position_ns: _, ...trace } = match
    const position = toPosition(match)
    const services = await servicesOf(db, trace.trace_id, position)
    const [root, run] = [await rootOf(db, trace.trace_id), await runOf(db, trace.trace_id)]
    const item = { ...trace, services, root, run }
    if (!budget.take(item, position)) return { items, next: last }
    items.push(item)
    last = position
  }
  return { items, next: page.next }
}

/** @throws AnswerTooLarge if the names of the services alone are too large for an answer */
async function servicesOf(db: Kysely<ObserveTables>, traceId: string, position: Position): Promise<string[]> {
  const names: string[] = []
  let characters = 0
  const rows = db
    .selectFrom('trace_parts')
    .innerJoin('services', 'services.id', 'trace_parts.service_id')
    .select('services.key as name')
    .where('trace_id', '=', traceId)
    .orderBy('services.key')
  for await (const { name } of rows.stream()) {
    names.push(name)
    characters += name.length
    if (characters > MAX_ANSWER_BYTES) throw new AnswerTooLarge('services', position)
  }
  return names
}

async function rootOf(db: Kysely<ObserveTables>, traceId: string): Promise<TraceSummary['root']> {
  const root = await db
    .selectFrom('spans')
    .innerJoin('services', 'services.id', 'spans.service_id')
    .select(['name', 'services.key as service', 'status_code'])
    .where('trace_id', '=', traceId)
    // Written as a literal, because the partial index of roots has this condition.
    .where(sql<boolean>`parent_span_id = ''`)
    .orderBy('start_ns')
    .limit(1)
    .executeTakeFirst()
  return root ?? null
}

async function runOf(db: Kysely<ObserveTables>, traceId: string): Promise<TraceRun | null> {
  const run = await db
    .selectFrom('pipeline_runs')
    .select(traceRunColumns)
    .where('trace_id', '=', traceId)
    .where('is_child', '=', 0)
    // The first run of a trace is the one at its root, as in `findRun`.
    .orderBy('start_ns')
    .orderBy('span_id')
    .limit(1)
    .executeTakeFirst()
  return run ?? null
}
