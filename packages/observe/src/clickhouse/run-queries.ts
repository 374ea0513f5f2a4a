import { compareJobs, toMedianSides, toRunSides } from '../insights/compare-runs.ts'
import { matches as isOfHistory } from '../insights/history/ordered-runs.ts'
import { RunTable } from '../insights/history/run-table.ts'
import { startedIn } from '../insights/history/time-buckets.ts'
import { USUAL_RUNS } from '../insights/history/usual-runs.ts'
import {
  type CompareQuery,
  type Insights,
  type InsightsQuery,
  insightsRange,
  medianRun,
  type RunComparison,
} from '../insights/insights-queries.ts'
import { createInsights, knownSince } from '../insights/insights-report.ts'
import type { Position, SearchedPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import { longestPart } from '../paging/windowed-search.ts'
import {
  boundedFacets,
  MAX_COMBINATIONS,
  MAX_FACET_VALUES,
  type RunFacets,
  type RunFilter,
  type RunQuery,
  type RunSummary,
} from '../queries/pipeline-queries.ts'
import { isRunMatch } from '../queries/pipeline-search.ts'
import { packRun, unpackRun } from '../runs/packed-run.ts'
import {
  AttributeMap,
  projectKeys,
  resultWords,
  runKeys,
  stateWords,
  statusColumns,
} from '../runs/pipeline-attributes.ts'
import { projectColumns } from '../runs/pipeline-span.ts'
import type { RunFacts } from '../runs/run-facts.ts'
import { DEFAULT_BRANCHES, isSameKind } from '../runs/run-kind.ts'
import type { TimeRange } from '../schema/time-range.ts'
import { backwards } from './backwards.ts'
import type { DerivedHistory } from './derived-history.ts'
import type { RunSource } from './pipeline-source.ts'
import { type DerivedPipeline, readPipelines, readPipelinesWhere, rootFirst, toRunKey } from './pipeline-spans.ts'
import type { Parameters } from './schema/clickhouse-client.ts'
import { TRACES } from './schema/exporter-schema.ts'
import { type TextMap, toKeyValues } from './schema/otlp-json.ts'
import { inRange, nanoseconds, readExtent, readTraceTimes, serviceName, storedServiceNames } from './schema/tables.ts'
import type { Source } from './source.ts'

interface RunPlace {
  readonly ns: string
  readonly key: string
  readonly trace_id: string
  readonly span_id: string
}

const positionOf = ({ ns, key }: RunPlace): Position => [ns, key]

/** A number for a span that fits into a cursor. */
const spanKey = 'bitShiftRight(cityHash64(TraceId, SpanId), 1)'
const MIN_BATCH = 50
const MAX_BATCH = 250

/** A run with its place in the list. */
interface FoundRun extends DerivedPipeline {
  readonly position: Position
}

/** A part of the list of runs, and where it goes on. */
interface RunBatch {
  readonly runs: readonly FoundRun[]
  readonly next: Position | undefined
}

/** A filter that may have several refs. It finds more runs than the caller wants, who selects among them. */
interface NarrowedFilter extends RunFilter {
  readonly refs?: readonly string[] | undefined
}

/** Yields the runs that match, the latest start first, some at a time. */
async function* findRuns(
  source: Source,
  filter: NarrowedFilter,
  { after, batchRows }: { readonly after: Position | undefined; readonly batchRows: number },
): AsyncGenerator<RunBatch> {
  const { db, schema, pipelines } = source
  const { spans, runs } = pipelines
  const extent = await readExtent(db, runs.table, filter)
  if (extent === undefined) return
  const { condition, parameters } = narrowing(filter, runs)
  const places = backwards<RunPlace>(
    { ...extent, after, lowestKey: '0', batchRows, isWhole: runs.isInOrderOfTime },
    ({ from, to, after }) =>
      db.rows(
        `SELECT ${nanoseconds('Timestamp')} AS ns, ${spanKey} AS key, TraceId AS trace_id, SpanId AS span_id
         FROM ${runs.table}
         WHERE ${inRange} AND ${runs.condition} AND ${condition} AND (ns, key) < ({afterNs:Int64}, {afterKey:UInt64})
         ORDER BY Timestamp DESC, key DESC LIMIT {limit:UInt32}`,
        {
          ...parameters,
          from: String(from),
          to: String(to),
          afterNs: after[0]!,
          afterKey: after[1]!,
          limit: batchRows,
        },
      ),
    positionOf,
  )
  for await (const { rows, next } of places) {
    const ids = [...new Set(rows.map(({ trace_id }) => trace_id))]
    const times = ids.length === 0 ? undefined : await readTraceTimes(db, schema, ids)
    const derived = times === undefined ? new Map() : await readPipelines(source, spans, { ids, ...times })
    const found = new Map<string, FoundRun>()
    for (const place of rows) {
      const pipeline: DerivedPipeline | undefined = derived.get(toRunKey(place))
      // Another version of the span may have another start; the run is listed by the newest version.
      if (pipeline === undefined || pipeline.summary.start_ns !== place.ns) continue
      if (isMatch(pipeline, filter)) found.set(toRunKey(place), { ...pipeline, position: positionOf(place) })
    }
    yield { runs: [...found.values()], next }
  }
}

function isMatch(
  { summary: run, facts }: DerivedPipeline,
  { project, forge, ref, status, job, children = false, text }: RunFilter,
): boolean {
  return (
    (children || !run.is_child) &&
    (project === undefined || run.project === project || run.project_name === project) &&
    (forge === undefined || run.forge === forge) &&
    (ref === undefined || run.ref === ref) &&
    (status === undefined || run.status === status) &&
    (job === undefined || facts.jobs.some(({ name }) => name === job)) &&
    (text === undefined || isRunMatch(run, text))
  )
}

/** Returns a condition that the span of every run meets that a filter selects, so that few others are read. */
function narrowing(
  { service, project, forge, ref, refs, status, text }: NarrowedFilter,
  runs: RunSource,
): { condition: string; parameters: Parameters } {
  const conditions = ['true']
  const parameters: Record<string, string | readonly string[]> = {}
  const add = (condition: string, values: Record<string, string | readonly string[]>) => {
    conditions.push(`(${condition})`)
    Object.assign(parameters, values)
  }
  if (service !== undefined) add('ServiceName IN {services:Array(String)}', { services: storedServiceNames(service) })
  if (forge !== undefined) add(`has(${runs.forges}, {forge:String})`, { forge })
  if (ref !== undefined) add(`has(${runs.refs}, {ref:String})`, { ref })
  if (refs !== undefined) add(`hasAny(${runs.refs}, {refs:Array(String)})`, { refs })
  if (project !== undefined) {
    add(
      `hasAny(${runs.projectNames}, {projects:Array(String)})
       OR arrayExists(url -> position(url, {slug:String}) > 0 OR position(url, '%') > 0, ${runs.projectUrls})`,
      { projects: [project, lastPart(project)], slug: lastPart(project) },
    )
  }
  if (status !== undefined) {
    const wordsFor = (words: Readonly<Record<string, string>>) => [
      status,
      ...Object.keys(words).filter((word) => words[word] === status),
    ]
    add(`hasAny(${runs.statusWords}, {words:Array(String)}) OR (StatusCode = 'Error' AND {status:String} = 'failed')`, {
      words: [...new Set([...wordsFor(resultWords), ...wordsFor(stateWords)])],
      status,
    })
  }
  // A full path is made of two attributes.
  if (text !== undefined) add(runs.mayContain, { part: longestPart(text, /[^\x20-\x7e]|\//) })
  return { condition: conditions.join(' AND '), parameters }
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export async function listRuns(
  source: Source,
  query: RunQuery,
  budget: ResponseBudget,
): Promise<SearchedPage<RunSummary>> {
  if (!source.schema.has(TRACES)) return { items: [], next: undefined, isLate: false }
  const { limit, after } = query
  const isLate = source.deadline()
  const items: RunSummary[] = []
  let last: Position | undefined
  const batchRows = Math.max(MIN_BATCH, Math.min(limit + 1, MAX_BATCH))
  for await (const { runs, next } of findRuns(source, query, { after, batchRows })) {
    for (const { summary, position } of runs) {
      if (items.length === limit || !budget.take(summary, position)) {
        return { items, next: last, isLate: false }
      }
      items.push(summary)
      last = position
    }
    if (next !== undefined && isLate()) return { items, next, isLate: true }
  }
  return { items, next: undefined, isLate: false }
}

/** Returns the run at the root of a trace; `undefined` if the trace has none. */
export async function findPipeline(source: Source, traceId: string): Promise<DerivedPipeline | undefined> {
  const { db, schema, pipelines } = source
  if (!schema.has(TRACES)) return undefined
  const times = await readTraceTimes(db, schema, [traceId])
  if (times === undefined) return undefined
  const runs = [...(await readPipelines(source, pipelines.spans, { ids: [traceId], ...times })).values()]
  return runs.sort(rootFirst)[0]
}

export async function findFacets(
  source: Source,
  service: string | undefined,
  budget: ResponseBudget,
): Promise<RunFacets> {
  const { db, schema } = source
  if (!schema.has(TRACES)) return { services: [], projects: [], forges: [], refs: [], statuses: [] }
  const { table, condition, attributes, resource } = source.pipelines.facets
  const services = await db.rows<{ service: string }>(
    `SELECT DISTINCT ${serviceName} AS service FROM ${table} WHERE ${condition} ORDER BY service LIMIT {limit:UInt32}`,
    { limit: MAX_FACET_VALUES },
  )
  const rows = await db.rows<{ is_error: number; attributes: TextMap; resource: TextMap }>(
    `SELECT DISTINCT StatusCode = 'Error' AS is_error, ${attributes} AS attributes, ${resource} AS resource
     FROM ${table} WHERE ${condition} ${service === undefined ? '' : 'AND ServiceName IN {services:Array(String)}'}
     LIMIT {limit:UInt32}`,
    { ...(service !== undefined && { services: storedServiceNames(service) }), limit: MAX_COMBINATIONS },
  )
  const found = rows.map(({ is_error, attributes, resource }) => {
    const own = new AttributeMap(toKeyValues(attributes))
    const withResource = new AttributeMap(toKeyValues(attributes), toKeyValues(resource))
    const { project } = projectColumns(withResource)
    const forge = withResource.text(projectKeys.forge)
    return { project, forge, ref: own.text(runKeys.ref), status: statusColumns(own, runKeys, is_error === 1).status }
  })
  const valuesOf = (column: 'project' | 'forge' | 'ref' | 'status') => found.flatMap((row) => row[column] ?? [])
  const values = {
    services: services.map((row) => row.service),
    projects: valuesOf('project'),
    forges: valuesOf('forge'),
    refs: valuesOf('ref'),
    statuses: valuesOf('status'),
  }
  return boundedFacets(values, budget)
}

export async function compareRuns(source: Source, { a, b }: CompareQuery): Promise<RunComparison | undefined> {
  const runA = await findPipeline(source, a)
  if (runA === undefined) return undefined
  const sidesA = toRunSides(runA.facts)
  if (b === 'median') {
    const runs = await usualRuns(source, runA)
    return {
      a: runA.summary,
      b: medianRun(runA.facts, runs),
      base: 'b',
      jobs: compareJobs(sidesA, toMedianSides(runs), 'b'),
    }
  }
  const runB = await findPipeline(source, b)
  if (runB === undefined) return undefined
  return { a: runA.summary, b: runB.summary, base: 'a', jobs: compareJobs(sidesA, toRunSides(runB.facts), 'a') }
}

/** Returns the last successful runs of the same kind that started before a run, without child pipelines; the latest first. */
async function usualRuns(source: Source, { summary, facts }: DerivedPipeline): Promise<RunFacts[]> {
  const { service, project, refKind } = facts
  const filter = {
    ...{ service, project: project ?? undefined, status: 'success', untilNs: BigInt(summary.start_ns) },
    refs: refKind === 'default_branch' ? DEFAULT_BRANCHES : undefined,
  }
  const isLate = source.deadline()
  const found: RunFacts[] = []
  for await (const { runs } of findRuns(source, filter, { after: undefined, batchRows: MIN_BATCH })) {
    for (const run of runs) {
      if (!isSameKind(run.facts, facts)) continue
      found.push(run.facts)
      if (found.length === USUAL_RUNS) return found
    }
    if (isLate()) break
  }
  return found
}

/** The runs that statistics are computed from if they are not in memory. */
const MAX_RUNS = 2_000
/** How long before and after its runs a trace can have other spans. */
const SLACK_NS = 24n * 3_600n * 1_000_000_000n

export async function readInsights(
  source: Source,
  query: InsightsQuery,
  history: DerivedHistory | undefined,
): Promise<Insights> {
  const range = insightsRange(query, source.nowMs())
  const known = { since: knownSince(range), until: range.until }
  const kept = await history?.select(source, { known: known.since, needed: range.since })
  if (kept !== undefined) {
    const runs = kept.ordered.selectWithUsual(query, known)
    return { ...createInsights({ runs, table: kept.table }, range), truncated: kept.isTruncated }
  }
  const table = new RunTable()
  const { pipelines, isTruncated } = await runsOfRange(source, query, {
    sinceNs: nanosecondsOf(known.since),
    untilNs: nanosecondsOf(known.until),
  })
  for (const { facts } of pipelines) table.add(unpackRun(packRun(facts)))
  const runs = startedIn(table.inOrder(), known).filter((run) => isOfHistory(run, query))
  return { ...createInsights({ runs, table }, range), truncated: isTruncated }
}

const nanosecondsOf = (seconds: number): bigint => {
  const ns = BigInt(Math.floor(seconds)) * 1_000_000_000n + BigInt(Math.round((seconds % 1) * 1e9))
  return ns < 0n ? 0n : ns
}

/** Returns the runs that start in a range, the latest ones if there are too many. */
async function runsOfRange(
  source: Source,
  { service, project, ref }: InsightsQuery,
  range: TimeRange,
): Promise<{ readonly pipelines: readonly DerivedPipeline[]; readonly isTruncated: boolean }> {
  const none = { pipelines: [], isTruncated: false }
  const { db, schema, pipelines } = source
  if (!schema.has(TRACES)) return none
  const { table, condition: isRun } = pipelines.runs
  const extent = await readExtent(db, table, range)
  if (extent === undefined) return none
  const { condition, parameters } = narrowing({ service, project, ref }, pipelines.runs)
  const runs = await db.rows<{ ns: string }>(
    `SELECT ${nanoseconds('Timestamp')} AS ns FROM ${table} WHERE ${inRange} AND ${isRun} AND ${condition}
     ORDER BY Timestamp DESC LIMIT {limit:UInt32}`,
    { ...parameters, from: String(extent.oldestNs), to: String(extent.newestNs), limit: MAX_RUNS + 1 },
  )
  const since = runs.length > MAX_RUNS ? BigInt(runs[MAX_RUNS]!.ns) + 1n : extent.oldestNs
  const isOfRuns = `TraceId IN (SELECT TraceId FROM ${table} WHERE
    Timestamp >= fromUnixTimestamp64Nano({first:Int64}) AND Timestamp < fromUnixTimestamp64Nano({last:Int64})
    AND ${isRun} AND ${condition})`
  const derived = await readPipelinesWhere(source, pipelines.spans, isOfRuns, {
    ...parameters,
    first: String(since),
    last: String(extent.newestNs),
    from: String(since > SLACK_NS ? since - SLACK_NS : 0n),
    to: String(extent.newestNs + SLACK_NS),
  })
  return { pipelines: [...derived.values()], isTruncated: runs.length > MAX_RUNS }
}
