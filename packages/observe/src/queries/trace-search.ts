import { type Kysely, sql } from 'kysely'
import type { Page, Position } from '../paging/cursor.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { exactText, rangeEnds, type TimeRange } from '../schema/time-range.ts'
import { WHOLE_TRACE } from '../store/arrival-store.ts'
import { type AttributeFilter, attributeTexts, pairBytes } from '../store/attribute-pairs.ts'
import { spansInOrder } from './trace-spans.ts'

export interface TraceFilter extends TimeRange {
  /** Selects only traces in which this service has a span. The range then applies to the first span of the service. */
  readonly service?: string | undefined
  /** Selects traces with a span that has all of these, itself or in its resource. */
  readonly attributes?: readonly AttributeFilter[] | undefined
  /** The least time from the first start to the last end of the trace. */
  readonly minDurationNs?: bigint | undefined
  /** Selects traces with a span that has the status error. */
  readonly hasErrors?: boolean | undefined
}

export interface TraceMatch {
  readonly trace_id: string
  readonly position_ns: string
  readonly start_time_unix_nano: string
  readonly end_time_unix_nano: string
  readonly spans: number
  readonly errors: number
}

/**
 * After how many spans a search by attributes starts no further trace. The page is short then, and its cursor continues the
 * search.
 */
const MAX_SPANS_READ = 20_000
const CANDIDATES_PER_READ = 200

interface SearchPage {
  readonly limit: number
  readonly after: Position | undefined
}

/** Returns the position of a trace in the list. */
export const toPosition = ({ position_ns, trace_id }: TraceMatch): Position => [position_ns, trace_id]

/** Returns the traces that match, the latest first. */
export async function searchTraces(
  db: Kysely<ObserveTables>,
  serviceId: number,
  filter: TraceFilter,
  { limit, after }: SearchPage,
): Promise<Page<TraceMatch>> {
  const attributes = filter.attributes ?? []
  if (attributes.length === 0) {
    const rows = await candidates(db, serviceId, filter, after, limit + 1)
    const items = rows.slice(0, limit)
    return { items, next: rows.length > limit ? toPosition(items.at(-1)!) : undefined }
  }
  const matches: TraceMatch[] = []
  const resources = new ResourceTexts(db)
  let spansRead = 0
  let last = after
  for (;;) {
    const rows = await candidates(db, serviceId, filter, last, CANDIDATES_PER_READ)
    for (const row of rows) {
      if (matches.length === limit || spansRead >= MAX_SPANS_READ) return { items: matches, next: last }
      const { isMatch, spans } = await hasSpanWith(db, row.trace_id, attributes, resources)
      spansRead += spans
      if (isMatch) matches.push(row)
      last = toPosition(row)
    }
    if (rows.length < CANDIDATES_PER_READ) return { items: matches, next: undefined }
  }
}

/** Returns the traces that match all filters, except that attributes may be missing. */
function candidates(
  db: Kysely<ObserveTables>,
  serviceId: number,
  filter: TraceFilter,
  after: Position | undefined,
  limit: number,
): Promise<TraceMatch[]> {
  const { sinceNs, untilNs } = rangeEnds(filter)
  const { attributes = [], minDurationNs, hasErrors = false } = filter
  const isWhole = serviceId === WHOLE_TRACE
  // Without a service, the row of the index is that of the whole trace.
  const whole = (column: string) => `${isWhole ? 'part' : 'whole'}.${column}`
  return db
    .selectFrom('trace_parts as part')
    .$if(!isWhole, (select) =>
      select.innerJoin('trace_parts as whole', (join) =>
        join.onRef('whole.trace_id', '=', 'part.trace_id').on('whole.service_id', '=', WHOLE_TRACE),
      ),
    )
    .select(['part.trace_id', exactText('part.first_ns').as('position_ns')])
    .select([
      exactText(whole('first_ns')).as('start_time_unix_nano'),
      exactText(whole('last_ns')).as('end_time_unix_nano'),
      sql<number>`${sql.ref(whole('spans'))}`.as('spans'),
      sql<number>`${sql.ref(whole('errors'))}`.as('errors'),
    ])
    .where('part.service_id', '=', serviceId)
    .where('part.first_ns', '>=', sinceNs)
    .where('part.first_ns', '<', untilNs)
    .$if(after !== undefined, (select) => {
      const [first, traceId] = after!
      return select.where(sql<boolean>`(part.first_ns, part.trace_id) < (${BigInt(first!)}, ${traceId})`)
    })
    .$if(minDurationNs !== undefined, (select) =>
      select.where(sql<boolean>`${sql.ref(whole('last_ns'))} - ${sql.ref(whole('first_ns'))} >= ${minDurationNs}`),
    )
    .$if(hasErrors, (select) => select.where(sql<boolean>`${sql.ref(whole('errors'))} > 0`))
    .$if(attributes.length > 0, (select) =>
      select.where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('trace_attributes as known')
              .select('known.trace_id')
              .whereRef('known.trace_id', '=', 'part.trace_id')
              .where('known.pairs', 'is not', null)
              .where((inner) =>
                inner.or(attributes.map((one) => sql<boolean>`instr(known.pairs, ${pairBytes(one)}) = 0`)),
              ),
          ),
        ),
      ),
    )
    .orderBy('part.first_ns', 'desc')
    .orderBy('part.trace_id', 'desc')
    .limit(limit)
    .execute()
}

/** Returns whether one span of the trace has all attributes, and how many spans were read for that. */
async function hasSpanWith(
  db: Kysely<ObserveTables>,
  traceId: string,
  attributes: readonly AttributeFilter[],
  resources: ResourceTexts,
): Promise<{ readonly isMatch: boolean; readonly spans: number }> {
  let spans = 0
  let after: Position | undefined
  for (;;) {
    const rows = await spansInOrder(db, traceId, after)
      .select(['id', exactText('start_ns').as('start'), 'json', 'resource_id'])
      .limit(SPANS_PER_READ)
      .execute()
    for (const { json, resource_id } of rows) {
      spans += 1
      const missing = lacking(attributes, await resources.of(resource_id))
      // Parsing a span takes ten times as long as searching its text.
      if (missing.every(({ value }) => json.includes(asInJson(value)))) {
        if (lacking(missing, attributeTexts(JSON.parse(json).attributes)).length === 0) return { isMatch: true, spans }
      }
    }
    if (rows.length < SPANS_PER_READ) return { isMatch: false, spans }
    const last = rows.at(-1)!
    after = [last.start, String(last.id)]
  }
}

const SPANS_PER_READ = 500

/** Returns the text as `JSON.stringify` writes it, by which spans are stored, without quotes. */
const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Returns the wanted attributes that are not among the present ones. */
function lacking(wanted: readonly AttributeFilter[], present: Iterable<AttributeFilter>): readonly AttributeFilter[] {
  let missing = wanted
  for (const { key, value } of present) {
    if (missing.length === 0) break
    missing = missing.filter((one) => one.key !== key || one.value !== value)
  }
  return missing
}

/** The attributes of resources, read once each. */
class ResourceTexts {
  readonly #db: Kysely<ObserveTables>
  readonly #known = new Map<number, readonly AttributeFilter[]>()

  constructor(db: Kysely<ObserveTables>) {
    this.#db = db
  }

  async of(id: number): Promise<readonly AttributeFilter[]> {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const row = await this.#db.selectFrom('documents').select('json').where('id', '=', id).executeTakeFirst()
    const texts = row === undefined ? [] : [...attributeTexts(JSON.parse(row.json).resource?.attributes)]
    this.#known.set(id, texts)
    return texts
  }
}
