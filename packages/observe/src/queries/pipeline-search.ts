import {
  type ExpressionBuilder,
  type ExpressionWrapper,
  type Kysely,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import type { Position } from '../paging/cursor.ts'
import {
  containsPattern,
  longestPart,
  type Matches,
  type SearchPage,
  searchInWindows,
} from '../paging/windowed-search.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { exactText } from '../schema/time-range.ts'

/** The tables of a query that reads `pipeline_runs as run`. */
export type RunTables = ObserveTables & { run: ObserveTables['pipeline_runs'] }

/** A condition for the rows `run` of `pipeline_runs`. */
export type RunCondition = (eb: ExpressionBuilder<RunTables, 'run'>) => ExpressionWrapper<RunTables, 'run', SqlBool>

/** The columns in which a text is searched for; the index of the list has them. */
const searchedColumns = ['project', 'ref', 'title', 'username', 'name'] as const

/** The texts of a run in which a text is searched for. */
export interface RunTexts {
  readonly project: string | null
  readonly ref: string | null
  readonly title: string | null
  readonly user: string | null
  readonly name: string | null
}

const ROWS_PER_WINDOW = 10_000

/** Returns the first runs that match, the latest first. This reads the index of every run of the range. */
export function searchRuns(
  db: Kysely<ObserveTables>,
  text: string,
  conditions: RunCondition,
  page: SearchPage,
): Promise<Matches> {
  const runs = (after: Position | undefined) =>
    latestFirst(
      db
        .selectFrom('pipeline_runs as run')
        .select(['run.id', exactText('run.start_ns').as('start')])
        .where(conditions)
        .$if(after !== undefined, (select) => select.where(isRunAfter(after!))),
    )
  return searchInWindows(
    {
      async endOfWindow(after) {
        const row = await runs(after)
          .offset(ROWS_PER_WINDOW - 1)
          .limit(1)
          .executeTakeFirst()
        return row && [row.start, String(row.id)]
      },
      rows: (after, end) =>
        runs(after)
          .select(['run.project', 'run.ref', 'run.title', 'run.username as user', 'run.name'])
          .$if(end !== undefined, (select) => select.where(isRunUpTo(end!)))
          .where(mayMatch(text))
          .stream(),
      positionOf: ({ start, id }) => [start, String(id)],
      isMatch: (row) => isRunMatch(row, text),
    },
    page,
  )
}

/** Orders rows as the list of runs does. */
export const latestFirst = <Row>(query: SelectQueryBuilder<RunTables, 'run', Row>) =>
  query.orderBy('run.start_ns', 'desc').orderBy('run.id', 'desc')

/** Returns the condition that a run comes after a position in the list, so that it is older. */
export function isRunAfter(position: Position) {
  const [start, id] = position.map(BigInt)
  return sql<boolean>`(run.start_ns, run.id) < (${start}, ${id})`
}

function isRunUpTo(position: Position) {
  const [start, id] = position.map(BigInt)
  return sql<boolean>`(run.start_ns, run.id) >= (${start}, ${id})`
}

/** Returns a condition that every match meets: `like` ignores only the case of ASCII letters. */
export function mayMatch(text: string) {
  const pattern = containsPattern(longestPart(text, /[^\x20-\x7e]/))
  const found = searchedColumns.map((column) => sql`${sql.ref(`run.${column}`)} like ${pattern} escape '\\'`)
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}

/** Returns whether one of the texts of a run contains a text, in any case. */
export function isRunMatch({ project, ref, title, user, name }: RunTexts, text: string): boolean {
  const wanted = text.toLowerCase()
  return [project, ref, title, user, name].some((one) => one?.toLowerCase().includes(wanted))
}
