import { type Expression, type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Position } from '../paging/cursor.ts'
import {
  containsPattern,
  longestPart,
  type Matches,
  type SearchPage,
  searchInWindows,
} from '../paging/windowed-search.ts'
import type { LogRecordTable, ObserveTables } from '../schema/tables.ts'
import { exactText, rangeEnds, type TimeRange } from '../schema/time-range.ts'

/** A search in the JSON of log records; both conditions have to be met. */
export interface LogSearch {
  /** A text in the body, in any case. */
  readonly text?: string | undefined
  readonly spanId?: string | undefined
  /** The trace that the conditions select; its few records are found by another index. */
  readonly traceId?: string | undefined
}

const ROWS_PER_WINDOW = 4_000

/**
 * Returns the first records that match, the latest first. The texts of all bodies of the range are compared, some thousand at a
 * time; an index has them in order of time. A record is read only if its text matches.
 *
 * @param conditions the other filters of the records `log_records`, without the range
 */
export function searchLogRecords(
  db: Kysely<ObserveTables>,
  search: LogSearch,
  { conditions, range }: { readonly conditions: Expression<SqlBool>; readonly range: TimeRange },
  page: SearchPage,
): Promise<Matches> {
  return searchInWindows(
    {
      endOfWindow: (after) => endOfWindow(db, conditions, isBetween(range, after)),
      rows: (after, end) =>
        db
          .selectFrom(recordsFor(search).as('log_records'))
          .select(['log_records.id', exactText('time_ns').as('time'), 'log_records.json'])
          .where(conditions)
          .where(isBetween(range, after, end))
          .where(mayMatch(search))
          .orderBy('time_ns', 'desc')
          .orderBy('log_records.id', 'desc')
          .stream(),
      positionOf: ({ time, id }) => [time, String(id)],
      isMatch: ({ json }) => isMatch(json, search),
    },
    page,
  )
}

/**
 * Returns the condition that a record is in a range, and in the list after a position and not after another one. The times of the
 * positions narrow the range: SQLite uses any of several bounds for the index, and would read all records of the range each time.
 */
export function isBetween(range: TimeRange, after?: Position, last?: Position): RawBuilder<boolean> {
  const { sinceNs, untilNs } = rangeEnds(range)
  const before = after?.map(BigInt)
  const end = last?.map(BigInt)
  const since = end === undefined || end[0]! < sinceNs ? sinceNs : end[0]
  const until = before === undefined || before[0]! >= untilNs ? untilNs : before[0]! + 1n
  const conditions = [
    sql`time_ns >= ${since} and time_ns < ${until}`,
    ...(before === undefined ? [] : [sql`(time_ns, log_records.id) < (${before[0]}, ${before[1]})`]),
    ...(end === undefined ? [] : [sql`(time_ns, log_records.id) >= (${end[0]}, ${end[1]})`]),
  ]
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/** Returns the position of the last record of a window; `undefined` if the window has all the rest. */
async function endOfWindow(
  db: Kysely<ObserveTables>,
  conditions: Expression<SqlBool>,
  isInRest: Expression<SqlBool>,
): Promise<Position | undefined> {
  const row = await db
    .selectFrom('log_records')
    .select([exactText('time_ns').as('time'), 'log_records.id'])
    .where(conditions)
    .where(isInRest)
    .orderBy('time_ns', 'desc')
    .orderBy('log_records.id', 'desc')
    .offset(ROWS_PER_WINDOW - 1)
    .limit(1)
    .executeTakeFirst()
  return row && [row.time, String(row.id)]
}

/**
 * Returns the rows of a search. The index of texts is named, because SQLite prefers the smaller one that has only times, and would
 * read every record.
 */
const recordsFor = ({ text, traceId }: LogSearch): RawBuilder<Selectable<LogRecordTable>> =>
  text !== undefined && traceId === undefined
    ? sql`(select * from log_records indexed by log_records_by_text)`
    : sql`(select * from log_records)`

/** Returns a condition that every match meets, and that SQLite checks without parsing the record. */
function mayMatch({ text, spanId }: LogSearch): RawBuilder<boolean> {
  const ofText = sql`(body_text is null or body_text like ${textPattern(text ?? '')} escape '\\')`
  const ofSpan = sql`log_records.json like ${containsPattern(`"spanId":"${spanId}"`)} escape '\\'`
  const conditions = [...(text === undefined ? [] : [ofText]), ...(spanId === undefined ? [] : [ofSpan])]
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/**
 * Returns a pattern that the text of every match has: the longest part of the searched text that JSON writes as it is, and in
 * which only the case of ASCII letters differs.
 */
const textPattern = (text: string): string => containsPattern(longestPart(text, /[^\x20-\x7e]|["\\]/))

/** Returns whether the JSON of a log record matches. */
export function isMatch(json: string, { text, spanId }: LogSearch): boolean {
  const record = JSON.parse(json) as { readonly body?: object; readonly spanId?: string }
  if (spanId !== undefined && record.spanId !== spanId) return false
  return text === undefined || textOf(record.body).toLowerCase().includes(text.toLowerCase())
}

/** Returns the text of a body; one that is not a text is searched as JSON. */
function textOf(body: { readonly stringValue?: unknown } | undefined): string {
  if (body === undefined) return ''
  return typeof body.stringValue === 'string' ? body.stringValue : JSON.stringify(body)
}
