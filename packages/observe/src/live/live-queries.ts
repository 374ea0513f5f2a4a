import { MAX_ANSWER_BYTES } from '@penstock/json'
import { type Kysely, sql } from 'kysely'
import { toCursor } from '../paging/cursor.ts'
import { jsonLength } from '../paging/json-bytes.ts'
import { ResponseBudget } from '../paging/response-budget.ts'
import { type LogQuery, logConditions, logRows, toStoredLogRecord } from '../queries/log-queries.ts'
import { isMatch } from '../queries/log-search.ts'
import { findRuns, type RunFilter, type RunSummary } from '../queries/pipeline-queries.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { eventText } from './event-stream.ts'

/** A question for the items that arrived after a position, which is an id in the order of arrival. */
export type LiveQuery = {
  /** Without it, the answer is the current position. */
  readonly after?: string | undefined
} & (
  | { readonly what: 'pipelines'; readonly filter: Omit<RunFilter, 'sinceNs' | 'untilNs'> }
  | {
      readonly what: 'logs'
      readonly filter: Pick<LogQuery, 'service' | 'minSeverity' | 'traceId' | 'spanId' | 'text'>
    }
)

/** The arrivals that one answer looks at. */
const WINDOWS = { pipelines: 1_000, logs: 2_000 } as const
/** The log records of one answer. */
const MAX_RECORDS = 200
/** The limit on the JSON of one answer, because each stream can hold one for a client that does not read. */
const MAX_BYTES = 1024 * 1024

/** The events after a position, as text of server-sent events. */
export interface LiveEvents {
  readonly text: string
  /** The cursor of the position after them. */
  readonly position: string
  /** Whether more may follow at once. */
  readonly hasMore: boolean
}

/** The items that arrived after a position, each with the position from which a client resumes that has it. */
interface Arrived {
  readonly items: readonly { readonly position: number; readonly item: unknown }[]
  readonly position: number
}

/** Returns the name of the cursors of a live list. */
export const liveList = (what: LiveQuery['what']): string => `live_${what}`

/** Returns the events of a live list after a position, in the order of arrival. */
export async function readLive(db: Kysely<ObserveTables>, query: LiveQuery): Promise<LiveEvents> {
  const newest = await newestId(db, query.what === 'logs' ? 'log_records' : 'spans')
  // A position beyond the newest id is that of another database.
  const after = Math.min(Number(query.after ?? newest), newest)
  const upTo = Math.min(after + WINDOWS[query.what], newest)
  const window = { after, upTo }
  const { items, position } =
    query.what === 'logs' ? await newRecords(db, query.filter, window) : await changedRuns(db, query.filter, window)
  const cursor = (id: number) => toCursor(liveList(query.what), [String(id)])
  const event = query.what === 'logs' ? 'log' : 'pipeline'
  return {
    text: items.map((arrived) => eventText(event, cursor(arrived.position), arrived.item)).join(''),
    position: cursor(position),
    hasMore: position < newest,
  }
}

async function newestId(db: Kysely<ObserveTables>, table: 'spans' | 'log_records'): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select((eb) => eb.fn.max<number | null>('id').as('newest'))
    .executeTakeFirst()
  return row?.newest ?? 0
}

interface Window {
  readonly after: number
  readonly upTo: number
}

async function newRecords(
  db: Kysely<ObserveTables>,
  { text, spanId, ...filter }: Extract<LiveQuery, { what: 'logs' }>['filter'],
  { after, upTo }: Window,
): Promise<Arrived> {
  const conditions = await logConditions(db, filter)
  if (conditions === undefined) return { items: [], position: upTo }
  const query = logRows(db)
    .where('log_records.id', '>', after)
    .where('log_records.id', '<=', upTo)
    .where(conditions)
    .orderBy('log_records.id')
  const isSearch = text !== undefined || spanId !== undefined
  const budget = new ResponseBudget(MAX_BYTES)
  const items: { position: number; item: unknown }[] = []
  let last = after
  for await (const row of query.stream()) {
    if (!isSearch || isMatch(row.record_json, { text, spanId })) {
      const item = toStoredLogRecord(row)
      const bytes = jsonLength(item)
      // A record that no list shows is left out here too. Another one that exceeds the budget is sent alone.
      if (bytes <= MAX_ANSWER_BYTES) {
        const fits = budget.takeBytes(bytes)
        if (!fits && items.length > 0) return { items, position: last }
        items.push({ position: row.id, item })
        if (!fits || items.length === MAX_RECORDS) return { items, position: row.id }
      }
    }
    last = row.id
  }
  return { items, position: upTo }
}

/** Returns the runs that arrived or changed: a run changes with each of its jobs. */
async function changedRuns(
  db: Kysely<ObserveTables>,
  filter: Extract<LiveQuery, { what: 'pipelines' }>['filter'],
  { after, upTo }: Window,
): Promise<Arrived> {
  const changed = sql<number>`(
    select id from pipeline_runs where span_row_id > ${after} and span_row_id <= ${upTo}
    union select run_id from pipeline_jobs where span_row_id > ${after} and span_row_id <= ${upTo} and run_id is not null)`
  const budget = new ResponseBudget(MAX_BYTES)
  const runs: RunSummary[] = []
  for await (const run of findRuns(db, changed, filter)) {
    // A span changes one run or two, so that those of the shortest window are sent whatever their size.
    if (!budget.takeBytes(jsonLength(run)) && upTo - after > 1) break
    runs.push(run)
  }
  if (budget.isTruncated && upTo - after > 1) {
    return await changedRuns(db, filter, { after, upTo: after + ((upTo - after) >> 1) })
  }
  // A run has no position of its own: a client that resumes before the last one gets all of them again.
  const items = runs.map((item, index) => ({ position: index === runs.length - 1 ? upTo : after, item }))
  return { items, position: upTo }
}
