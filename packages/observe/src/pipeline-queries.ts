import { type Expression, type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { type Page, type Position, pageOf } from './cursor.ts'
import type { ResponseBudget } from './response-budget.ts'
import { findServiceId } from './service-queries.ts'
import type { ObserveTables } from './tables.ts'
import { exactText, rangeEnds, type TimeRange } from './time-range.ts'

export interface RunFilter extends TimeRange {
  readonly service?: string | undefined
  /** The full path of a project, or its name. */
  readonly project?: string | undefined
  readonly ref?: string | undefined
  readonly status?: string | undefined
  /** Whether to include the runs that other pipelines started as their children. */
  readonly children?: boolean | undefined
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
  readonly pipeline_id: string | null
  readonly pipeline_iid: number | null
  readonly ref: string | null
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

/** Returns runs, the latest start first. */
export async function listRuns(
  db: Kysely<ObserveTables>,
  query: RunQuery,
  budget: ResponseBudget,
): Promise<Page<RunSummary>> {
  const conditions = await runConditions(db, query)
  if (conditions === undefined) return { items: [], next: undefined }
  const { limit, after } = query
  // The ids come from the covering index alone; only the rows of the page are read.
  const ids = db
    .selectFrom('pipeline_runs as run')
    .select('run.id')
    .where(conditions)
    .$if(after !== undefined, (select) => {
      const [start, id] = after!.map(BigInt)
      return select.where(sql<boolean>`(run.start_ns, run.id) < (${start}, ${id})`)
    })
    .orderBy('run.start_ns', 'desc')
    .orderBy('run.id', 'desc')
    .limit(limit + 1)
  const rows = await budget.list(
    runRows(db).where('run.id', 'in', ids).orderBy('run.start_ns', 'desc').orderBy('run.id', 'desc'),
  )
  const page = pageOf(rows, { limit, isTruncated: budget.isTruncated }, (row) => [row.start_ns, String(row.id)])
  return { ...page, items: page.items.map(toSummary) }
}

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

/** Returns the runs with some ids that meet a condition, in order of their start. */
export async function findRuns(
  db: Kysely<ObserveTables>,
  ids: Expression<number | null>,
  conditions: NonNullable<Awaited<ReturnType<typeof runConditions>>>,
): Promise<RunSummary[]> {
  const rows = await runRows(db).where('run.id', 'in', ids).where(conditions).orderBy('run.start_ns').execute()
  return rows.map(toSummary)
}

/** Returns the condition for the rows `run` of `pipeline_runs`; `undefined` if the service is unknown, so that no run matches. */
export async function runConditions(db: Kysely<ObserveTables>, filter: RunFilter) {
  const serviceId = filter.service === undefined ? undefined : await findServiceId(db, filter.service)
  if (filter.service !== undefined && serviceId === undefined) return undefined
  const { sinceNs, untilNs } = rangeEnds(filter)
  const { project, ref, status, children = false } = filter
  return (eb: ExpressionBuilder<ObserveTables & { run: ObserveTables['pipeline_runs'] }, 'run'>) =>
    eb.and([
      eb('run.start_ns', '>=', sinceNs),
      eb('run.start_ns', '<', untilNs),
      ...(children ? [] : [eb('run.is_child', '=', 0)]),
      ...(serviceId === undefined ? [] : [eb('run.service_id', '=', serviceId)]),
      ...(project === undefined
        ? []
        : [eb.or([eb('run.project', '=', project), eb('run.project_name', '=', project)])]),
      ...(ref === undefined ? [] : [eb('run.ref', '=', ref)]),
      ...(status === undefined ? [] : [eb('run.status', '=', status)]),
    ])
}

const runRows = (db: Kysely<ObserveTables>) =>
  db
    .selectFrom('pipeline_runs as run')
    .innerJoin('services', 'services.id', 'run.service_id')
    .select(['run.id', 'run.trace_id', 'run.span_id', 'services.key as service', 'run.namespace', 'run.name'])
    .select(['run.project', 'run.project_name', 'run.project_url', 'run.pipeline_id', 'run.pipeline_iid', 'run.ref'])
    .select(['run.sha', 'run.title', 'run.trigger_type as trigger', 'run.username as user', 'run.url', 'run.status'])
    .select(['run.is_final', exactText('run.start_ns').as('start_ns'), exactText('run.end_ns').as('end_ns')])
    .select(sql<string>`cast(run.end_ns - run.start_ns as text)`.as('duration_ns'))
    .select(['run.busy_seconds', 'run.queue_seconds', 'run.jobs', 'run.jobs_failed', 'run.failed_jobs_json'])
    .select(['run.is_child', 'run.coverage', 'run.shape_json'])

type RunRow = Awaited<ReturnType<ReturnType<typeof runRows>['execute']>>[number]

function toSummary({ id: _, is_final, failed_jobs_json, shape_json, ...row }: RunRow): RunSummary {
  const shape = JSON.parse(shape_json) as readonly [string, string | null, string | null, string, string][]
  return {
    ...row,
    duration_ns: is_final === 1 ? row.duration_ns : null,
    failed_jobs: JSON.parse(failed_jobs_json),
    is_child: row.is_child === 1,
    shape: shape.map(([name, stage, status, start_ns, end_ns]) => ({ name, stage, status, start_ns, end_ns })),
  }
}

/** The values that the filters of runs can have, each in order of text. */
export interface RunFacets {
  readonly services: readonly string[]
  readonly projects: readonly string[]
  readonly refs: readonly string[]
  readonly statuses: readonly string[]
}

const MAX_FACET_VALUES = 1_000

/** Returns the distinct values of all stored runs, or of those of one service; at most 1,000 of a kind. */
export async function findFacets(db: Kysely<ObserveTables>, service: string | undefined): Promise<RunFacets> {
  const serviceId = service === undefined ? undefined : await findServiceId(db, service)
  const isUnknown = service !== undefined && serviceId === undefined
  const valuesOf = async (column: 'project' | 'ref' | 'status') => {
    if (isUnknown) return []
    const rows = await db
      .selectFrom('pipeline_runs')
      .select(column)
      .distinct()
      .where(column, 'is not', null)
      .$if(serviceId !== undefined, (select) => select.where('service_id', '=', serviceId!))
      .orderBy(column)
      .limit(MAX_FACET_VALUES)
      .execute()
    return rows.map((row) => row[column]!)
  }
  const services = await db
    .selectFrom('services')
    .select('key')
    .where('id', 'in', db.selectFrom('pipeline_runs').select('service_id').distinct())
    .orderBy('key')
    .limit(MAX_FACET_VALUES)
    .execute()
  return {
    services: services.map(({ key }) => key),
    projects: await valuesOf('project'),
    refs: await valuesOf('ref'),
    statuses: await valuesOf('status'),
  }
}
