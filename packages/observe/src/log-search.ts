import { type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { Position } from './cursor.ts'
import type { ObserveTables } from './tables.ts'
import { exactText } from './time-range.ts'
import { containsPattern, longestPart, type Matches, type SearchPage, searchInWindows } from './windowed-search.ts'

/** A search in the JSON of log records; both conditions have to be met. */
export interface LogSearch {
  /** A text in the body, in any case. */
  readonly text?: string | undefined
  readonly spanId?: string | undefined
}

const ROWS_PER_WINDOW = 4_000

/**
 * Returns the first records that match, the latest first. The store has no index of texts, so this reads every record of the
 * range, some thousand at a time.
 *
 * @param conditions the other filters of the records `log_records`
 */
export function searchLogRecords(
  db: Kysely<ObserveTables>,
  search: LogSearch,
  conditions: Expression<SqlBool>,
  page: SearchPage,
): Promise<Matches> {
  return searchInWindows(
    {
      endOfWindow: (after) => endOfWindow(db, conditions, after),
      rows: (after, end) =>
        db
          .selectFrom('log_records')
          .select(['log_records.id', exactText('time_ns').as('time'), 'log_records.json'])
          .where(conditions)
          .$if(after !== undefined, (select) => select.where(isAfter(after!)))
          .$if(end !== undefined, (select) => select.where(isUpTo(end!)))
          .where(sql<boolean>`log_records.json like ${likePattern(search)} escape '\\'`)
          .orderBy('time_ns', 'desc')
          .orderBy('log_records.id', 'desc')
          .stream(),
      positionOf: ({ time, id }) => [time, String(id)],
      isMatch: ({ json }) => isMatch(json, search),
    },
    page,
  )
}

/** Returns the condition that a record comes after a position in the list, so that it is older. */
export function isAfter(position: Position) {
  const [time, id] = position.map(BigInt)
  return sql<boolean>`(time_ns, log_records.id) < (${time}, ${id})`
}

function isUpTo(position: Position) {
  const [time, id] = position.map(BigInt)
  return sql<boolean>`(time_ns, log_records.id) >= (${time}, ${id})`
}

/** Returns the position of the last record of a window; `undefined` if the window has all the rest. */
async function endOfWindow(
  db: Kysely<ObserveTables>,
  conditions: Expression<SqlBool>,
  position: Position | undefined,
): Promise<Position | undefined> {
  const row = await db
    .selectFrom('log_records')
    .select([exactText('time_ns').as('time'), 'log_records.id'])
    .where(conditions)
    .$if(position !== undefined, (select) => select.where(isAfter(position!)))
    .orderBy('time_ns', 'desc')
    .orderBy('log_records.id', 'desc')
    .offset(ROWS_PER_WINDOW - 1)
    .limit(1)
    .executeTakeFirst()
  return row && [row.time, String(row.id)]
}

/**
 * Returns a pattern that the JSON of every match has: the longest part of the text that JSON writes as it is, and in which
 * only the case of ASCII letters differs. SQLite compares it much faster than the records could be parsed.
 */
function likePattern({ text, spanId }: LogSearch): string {
  if (spanId !== undefined) return `%"spanId":"${spanId}"%`
  return containsPattern(longestPart(text ?? '', /[^\x20-\x7e]|["\\]/))
}

/** Tells whether the JSON of a log record matches. */
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
