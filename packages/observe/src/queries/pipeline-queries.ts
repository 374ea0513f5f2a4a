import { type Expression, type Kysely, sql } from 'kysely'
import { type Position, type SearchedPage, toPage } from '../paging/cursor.ts'
import { jsonLength } from '../paging/json-bytes.ts'
import { ResponseBudget } from '../paging/response-budget.ts'
import type { RefKind } from '../schema/pipeline-tables.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { exactText, rangeEnds, type TimeRange } from '../schema/time-range.ts'
import { isRunAfter, isRunMatch, latestFirst, mayMatch, type RunCondition, searchRuns } from './pipeline-search.ts'
import { findServiceId } from './service-queries.ts'

export interface RunFilter extends TimeRange {
  readonly service?: string | undefined
  /** The full path of a project, or its name. */
  readonly project?: string | undefined
  /** The name of the forge, such as `github`. */
  readonly forge?: string | undefined
  readonly ref?: string | undefined
  readonly status?: string | undefined
  /** The name of a job that the run has. */
  readonly job?: string | undefined
  /** Whether to include the runs that other pipelines started as their children. */
  readonly children?: boolean | undefined
  /** A text in the project, ref, title, user or name, in any case. */
  readonly text?: string | undefined
}

export interface RunQuery extends RunFilter {
  readonly limit: number
  readonly after?: Position | undefined
}

/** One pipeline run. Times are nanoseconds as text; unknown values are `null`. */
export interface RunSummary {
  readonly trace_id: string
  readonly span_id: string
  readonly service: string
  readonly namespace: string | null
  readonly name: string | null
  readonly project: string | null
  readonly project_name: string | null
  readonly project_url: string | null
  /** `null` if the telemetry does not name it. */
  readonly forge: string | null
  readonly pipeline_id: string | null
  readonly pipeline_iid: number | null
  readonly ref: string | null
  /** `null` if the ref is unknown. */
  readonly ref_kind: RefKind | null
  readonly sha: string | null
  readonly title: string | null
  readonly trigger: string | null
  readonly user: string | null
  readonly url: string | null
  readonly status: string | null
  readonly start_ns: string
  readonly end_ns: string
  /** `null` unless the run has finished. */
  readonly duration_ns: string | null
  readonly busy_seconds: number | null
  readonly queue_seconds: number | null
  readonly jobs: number
  readonly jobs_failed: number
  readonly failed_jobs: readonly string[]
  readonly is_child: boolean
  readonly coverage: number | null
  readonly shape: readonly ShapeJob[]
}

export interface ShapeJob {
  readonly name: string
  readonly stage: string | null
  readonly status: string | null
  readonly start_ns: string
  readonly end_ns: string
}

/** Returns runs, the latest start first. A page of a search can be short, or even empty, although there is a next one. */
export async function listRuns(
  db: Kysely<ObserveTables>,
  query: RunQuery,
  budget: ResponseBudget,
): Promise<SearchedPage<RunSummary>> {
  const conditions = await runConditions(db, query)
  if (conditions === undefined) return { items: [], next: undefined, isLate: false }
  const { limit, after, text } = query
  if (text !== undefined) {
    const { ids, next, isLate } = await searchRuns(db, text, conditions, { limit, after })
    if (ids.length === 0) return { items: [], next, isLate }
    const rows = await budget.list(latestFirst(runRows(db).where('run.id', 'in', ids)), listed)
    const items = rows.map(({ item }) => item)
    return { items, next: rows.length < ids.length ? positionOf(rows.at(-1)!.row) : next, isLate }
  }
  // The ids come from the covering index alone; only the rows of the page are read.
  const ids = latestFirst(
    db
      .selectFrom('pipeline_runs as run')
      .select('run.id')
      .where(conditions)
      .$if(after !== undefined, (select) => select.where(isRunAfter(after!))),
  ).limit(limit + 1)
  const rows = await budget.list(latestFirst(runRows(db).where('run.id', 'in', ids)), listed)
  return { ...toPage(rows, { limit, isTruncated: budget.isTruncated }, positionOf), isLate: false }
}

const positionOf = (row: RunRow): Position => [row.start_ns, String(row.id)]

/** Returns the run at the root of a trace; `undefined` if the trace has none. */
export async function findRun(db: Kysely<ObserveTables>, traceId: string): Promise<RunSummary | undefined> {
  const row = await runRows(db)
    .where('run.trace_id', '=', traceId)
    .orderBy('run.is_child')
    .orderBy('run.start_ns')
    .orderBy('run.span_id')
    .limit(1)
    .executeTakeFirst()
  return row && toSummary(row)
}

/** Yields the runs with some ids that meet a condition, in order of their start. Run no other query before the last one. */
export async function* findRuns(
  db: Kysely<ObserveTables>,
  ids: Expression<number | null>,
  filter: RunFilter,
): AsyncGenerator<RunSummary> {
  const conditions = await runConditions(db, filter)
  if (conditions === undefined) return
  const { text } = filter
  const rows = runRows(db)
    .where('run.id', 'in', ids)
    .where(conditions)
    .$if(text !== undefined, (select) => select.where(mayMatch(text!)))
    .orderBy('run.start_ns')
    .stream()
  for await (const row of rows) if (text === undefined || isRunMatch(row, text)) yield toSummary(row)
}

/** Returns the condition of a filter, apart from its text; `undefined` if the service is unknown, so that no run matches. */
async function runConditions(db: Kysely<ObserveTables>, filter: RunFilter): Promise<RunCondition | undefined> {
  const serviceId = filter.service === undefined ? undefined : await findServiceId(db, filter.service)
  if (filter.service !== undefined && serviceId === undefined) return undefined
  const { sinceNs, untilNs } = rangeEnds(filter)
  const { project, forge, ref, status, job, children = false } = filter
  return (eb) =>
    eb.and([
      eb('run.start_ns', '>=', sinceNs),
      eb('run.start_ns', '<', untilNs),
      ...(children ? [] : [eb('run.is_child', '=', 0)]),
      ...(serviceId === undefined ? [] : [eb('run.service_id', '=', serviceId)]),
      ...(project === undefined
        ? []
        : [eb.or([eb('run.project', '=', project), eb('run.project_name', '=', project)])]),
      ...(forge === undefined ? [] : [eb('run.forge', '=', forge)]),
      ...(ref === undefined ? [] : [eb('run.ref', '=', ref)]),
      ...(status === undefined ? [] : [eb('run.status', '=', status)]),
      ...(job === undefined
        ? []
        : [sql<boolean>`exists (select 1 from pipeline_jobs where run_id = run.id and pipeline_jobs.name = ${job})`]),
    ])
}

const runRows = (db: Kysely<ObserveTables>) =>
  db
    .selectFrom('pipeline_runs as run')
    .innerJoin('services', 'services.id', 'run.service_id')
    .select(['run.id', 'run.trace_id', 'run.span_id', 'services.key as service', 'run.namespace', 'run.name'])
    .select(['run.project', 'run.project_name', 'run.project_url', 'run.pipeline_id', 'run.pipeline_iid', 'run.ref'])
    .select(['run.ref_kind', 'run.forge'])
    .select(['run.sha', 'run.title', 'run.trigger_type as trigger', 'run.username as user', 'run.url', 'run.status'])
    .select(['run.is_final', exactText('run.start_ns').as('start_ns'), exactText('run.end_ns').as('end_ns')])
    .select(sql<string>`cast(run.end_ns - run.start_ns as text)`.as('duration_ns'))
    .select(['run.busy_seconds', 'run.queue_seconds', 'run.jobs', 'run.jobs_failed', 'run.failed_jobs_json'])
    .select(['run.is_child', 'run.coverage', 'run.shape_json'])

export type RunRow = Awaited<ReturnType<ReturnType<typeof runRows>['execute']>>[number]

export function toSummary({ id: _, is_final, failed_jobs_json, shape_json, ...row }: RunRow): RunSummary {
  const shape = JSON.parse(shape_json) as readonly [string, string | null, string | null, string, string][]
  return {
    ...row,
    duration_ns: is_final === 1 ? row.duration_ns : null,
    failed_jobs: JSON.parse(failed_jobs_json),
    is_child: row.is_child === 1,
    shape: shape.map(([name, stage, status, start_ns, end_ns]) => ({ name, stage, status, start_ns, end_ns })),
  }
}

const listed = { toItem: toSummary, positionOf }

/** The values that the filters of runs can have, each in order of text. */
export interface RunFacets {
  readonly services: readonly string[]
  readonly projects: readonly string[]
  readonly forges: readonly string[]
  readonly refs: readonly string[]
  readonly statuses: readonly string[]
}

export const MAX_FACET_VALUES = 1_000

/** The bytes of the values of one kind. */
const MAX_FACET_BYTES = 1536 * 1024

/** Returns the first values of each kind, in order of text, that fit into an answer. */
export function boundedFacets(values: RunFacets, budget: ResponseBudget): RunFacets {
  const fitting = (texts: Iterable<string>): string[] => {
    const own = new ResponseBudget(MAX_FACET_BYTES)
    const found = [...new Set(texts)].sort().slice(0, MAX_FACET_VALUES)
    const first = found.filter((text) => own.takeBytes(jsonLength(text) + 1))
    if (first.length < found.length) budget.truncate()
    return first
  }
  return {
    services: fitting(values.services),
    projects: fitting(values.projects),
    forges: fitting(values.forges),
    refs: fitting(values.refs),
    statuses: fitting(values.statuses),
  }
}

/** Returns the distinct values of all stored runs, or of those of one service; at most 1,000 of a kind. */
export async function findFacets(
  db: Kysely<ObserveTables>,
  service: string | undefined,
  budget: ResponseBudget,
): Promise<RunFacets> {
  const serviceId = service === undefined ? undefined : await findServiceId(db, service)
  const isUnknown = service !== undefined && serviceId === undefined
  // One scan of the index for all kinds of values.
  const rows = isUnknown
    ? []
    : await db
        .selectFrom('pipeline_runs')
        .select(['project', 'forge', 'ref', 'status'])
        .distinct()
        .$if(serviceId !== undefined, (select) => select.where('service_id', '=', serviceId!))
        .limit(MAX_COMBINATIONS)
        .execute()
  const valuesOf = (column: 'project' | 'forge' | 'ref' | 'status') => rows.flatMap((row) => row[column] ?? [])
  const services: string[] = []
  const names = db
    .selectFrom('services')
    .select('key')
    .where('id', 'in', db.selectFrom('pipeline_runs').select('service_id').distinct())
    .orderBy('key')
    .limit(MAX_FACET_VALUES)
  let characters = 0
  for await (const { key } of names.stream()) {
    services.push(key)
    characters += key.length
    if (characters > MAX_FACET_BYTES) break
  }
  return boundedFacets(
    {
      services,
      projects: valuesOf('project'),
      forges: valuesOf('forge'),
      refs: valuesOf('ref'),
      statuses: valuesOf('status'),
    },
    budget,
  )
}

/** The combinations that are read; a store with more of them has more than 1,000 refs. */
export const MAX_COMBINATIONS = 50_000
