import { type RunSummary, toSummary } from '../queries/pipeline-queries.ts'
import { typedValue } from '../runs/pipeline-attributes.ts'
import { MAX_ROWS_PER_TRACE } from '../runs/pipeline-row-store.ts'
import {
  type JobColumns,
  type PipelineSpan,
  type RunColumns,
  type StageColumns,
  toPipelineSpan,
} from '../runs/pipeline-span.ts'
import { derivePipelineTrace, type JobNode, type RunNode } from '../runs/pipeline-trace.ts'
import type { RunFacts } from '../runs/run-facts.ts'
import type { SpanSource } from './pipeline-source.ts'
import type { ClickHouse, Parameters } from './schema/clickhouse-client.ts'
import { type TextMap, toKeyValues } from './schema/otlp-json.ts'
import { nanoseconds, serviceName } from './schema/tables.ts'

/** A pipeline run with the facts for statistics about it. */
export interface DerivedPipeline {
  readonly summary: RunSummary
  readonly facts: RunFacts
}

/** The spans of a trace that are read; the embedded store has as many rows of each kind. */
const MAX_SPANS_PER_TRACE = 3 * MAX_ROWS_PER_TRACE

/** A database, and the spans that were read from it. */
interface SpanReads {
  readonly db: ClickHouse
  readonly knownSpans: KnownSpans
}

interface SpanRow {
  readonly start_ns: string
  readonly end_ns: string
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string
  readonly span_name: string
  readonly service: string
  readonly is_error: number
  /** JSON. */
  readonly attributes: string
  readonly resource: TextMap
}

const columnsOf = ({ attributes, resource }: SpanSource) => `
  ${nanoseconds('Timestamp')} AS start_ns, start_ns + toInt64(Duration) AS end_ns, TraceId AS trace_id, SpanId AS span_id,
  ParentSpanId AS parent_span_id, SpanName AS span_name, ${serviceName} AS service, StatusCode = 'Error' AS is_error,
  ${attributes} AS attributes, ${resource} AS resource`

/**
 * Returns the runs of some traces by their keys. The same functions derive them that derive the rows of the embedded store, so
 * the result is the same.
 *
 * @param range the range `from` to `to` in which the spans of these traces start
 */
export async function readPipelines(
  source: SpanReads,
  spans: SpanSource,
  { ids, ...range }: { readonly ids: readonly string[]; readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, DerivedPipeline>> {
  return await readPipelinesWhere(source, spans, 'TraceId IN {ids:Array(String)}', { ...range, ids })
}

/** Returns the runs of the traces that meet a condition. Their spans have to start in the range `from` to `to`. */
export async function readPipelinesWhere(
  { db, knownSpans }: SpanReads,
  spans: SpanSource,
  condition: string,
  parameters: Parameters,
): Promise<ReadonlyMap<string, DerivedPipeline>> {
  const rows = await db.rows<SpanRow>(
    `SELECT ${columnsOf(spans)} FROM ${spans.table} WHERE ${spans.inRange} AND ${condition} AND ${spans.condition}
     LIMIT {spans:UInt32} BY TraceId`,
    { ...parameters, spans: MAX_SPANS_PER_TRACE },
  )
  const traces = new Map<string, TraceSpans>()
  for (const row of rows) {
    const trace = traces.get(row.trace_id) ?? new TraceSpans()
    traces.set(row.trace_id, trace)
    trace.add(row, knownSpans)
  }
  const found = new Map<string, DerivedPipeline>()
  for (const trace of traces.values()) {
    for (const pipeline of trace.derive()) found.set(toRunKey(pipeline.summary), pipeline)
  }
  return found
}

/** Sorts the runs of one trace. The first one is that of the root. */
export const rootFirst = ({ summary: a }: DerivedPipeline, { summary: b }: DerivedPipeline): number =>
  Number(a.is_child) - Number(b.is_child) ||
  Number(BigInt(a.start_ns) - BigInt(b.start_ns)) ||
  (a.span_id < b.span_id ? -1 : 1)

/** Returns the key of a run among all runs. */
export const toRunKey = ({ trace_id, span_id }: { readonly trace_id: string; readonly span_id: string }): string =>
  `${trace_id} ${span_id}`

/** The jobs and stages that are remembered; beyond it, all are forgotten. */
const MAX_KNOWN_SPANS = 5_000
const MAX_KEY_LENGTH = 2_000

/** The jobs and stages that were read from a database, by what they have in common with others. */
export class KnownSpans {
  readonly #spans = new Map<string, PipelineSpan>()

  /** Returns the columns of a span. Most jobs of a project differ only in ids and times, so the other columns are remembered. */
  toSpan(row: SpanRow): PipelineSpan | undefined {
    const [startNs, endNs] = [BigInt(row.start_ns), BigInt(row.end_ns)]
    const key = `${row.attributes} ${row.is_error} ${startNs >= endNs} ${row.span_name}`
    const known = this.#spans.get(key)
    const place = { trace_id: row.trace_id, span_id: row.span_id, parent_span_id: row.parent_span_id }
    if (known?.kind === 'job') {
      return { kind: 'job', columns: { ...known.columns, ...place, start_ns: startNs, end_ns: endNs } }
    }
    if (known?.kind === 'stage') return { kind: 'stage', columns: place }
    const attributes = Object.entries(JSON.parse(row.attributes) as TextMap)
    const span = toPipelineSpan(
      {
        traceId: row.trace_id,
        spanId: row.span_id,
        parentSpanId: row.parent_span_id,
        name: row.span_name,
        isError: row.is_error === 1,
        startNs,
        endNs,
      },
      attributes.map(([key, text]) => ({ key, value: typedValue(key, text) })),
      resourceJson(row.resource),
    )
    if (span !== undefined && span.kind !== 'run' && key.length <= MAX_KEY_LENGTH) {
      if (this.#spans.size >= MAX_KNOWN_SPANS) this.#spans.clear()
      this.#spans.set(key, span)
    }
    return span
  }
}
const NO_RESOURCE = JSON.stringify({ resource: {} })

/** Returns the document of a resource. Only that of a run was read. */
function resourceJson(resource: TextMap): string {
  const attributes = toKeyValues(resource)
  return attributes.length === 0 ? NO_RESOURCE : JSON.stringify({ resource: { attributes } })
}

type Placed<Columns> = Columns & { readonly service: string }

/** The spans of one trace, of each the newest version. */
class TraceSpans {
  readonly #runs = new Map<string, Placed<RunColumns>>()
  readonly #jobs = new Map<string, JobColumns>()
  readonly #stages = new Map<string, StageColumns>()

  add(row: SpanRow, known: KnownSpans): void {
    const span = known.toSpan(row)
    switch (span?.kind) {
      case 'run':
        keepNewest(this.#runs, { ...span.columns, service: row.service })
        break
      case 'job':
        keepNewest(this.#jobs, span.columns)
        break
      case 'stage':
        this.#stages.set(row.span_id, span.columns)
    }
  }

  *derive(): Generator<DerivedPipeline> {
    const runs = [...this.#runs.values()]
    const derived = derivePipelineTrace({
      runs: runs.map(toRunNode),
      jobs: [...this.#jobs.values()].map(toJobNode),
      stages: [...this.#stages.values()].map(({ span_id, parent_span_id }) => ({
        spanId: span_id,
        parentSpanId: parent_span_id,
      })),
    })
    for (const run of runs) {
      const { parent_span_id: _, trigger_type, username, start_ns, end_ns, ...columns } = run
      const summary = toSummary({
        id: 0,
        ...emptyRun,
        ...columns,
        trigger: trigger_type ?? null,
        user: username ?? null,
        start_ns: String(start_ns),
        end_ns: String(end_ns),
        duration_ns: String(BigInt(end_ns) - BigInt(start_ns)),
        ...derived.runs.get(run.span_id)!,
      })
      yield { summary, facts: derived.facts.get(run.span_id)! }
    }
  }
}

/** The columns that a run can lack. */
const emptyRun = {
  namespace: null,
  name: null,
  project: null,
  project_name: null,
  project_url: null,
  pipeline_id: null,
  pipeline_iid: null,
  ref: null,
  forge: null,
  ref_kind: null,
  sha: null,
  title: null,
  url: null,
  status: null,
  busy_seconds: null,
  queue_seconds: null,
  coverage: null,
} as const

/** Keeps the version of a span that is final, or ends later. */
function keepNewest<Columns extends RunColumns | JobColumns>(known: Map<string, Columns>, columns: Columns): void {
  const before = known.get(columns.span_id)
  const isNewer =
    before === undefined ||
    columns.is_final > before.is_final ||
    (columns.is_final === before.is_final && columns.end_ns >= before.end_ns)
  if (isNewer) known.set(columns.span_id, columns)
}

const toRunNode = (run: Placed<RunColumns>, id: number): RunNode => ({
  id,
  spanId: run.span_id,
  parentSpanId: run.parent_span_id,
  trigger: run.trigger_type ?? null,
  startNs: BigInt(run.start_ns),
  endNs: BigInt(run.end_ns),
  facts: {
    traceId: run.trace_id,
    service: run.service,
    project: run.project ?? null,
    projectName: run.project_name ?? null,
    ref: run.ref ?? null,
    refKind: run.ref_kind ?? null,
    name: run.name ?? null,
    trigger: run.trigger_type ?? null,
    sha: run.sha ?? null,
    status: run.status ?? null,
    queue: run.queue_seconds ?? null,
  },
})

const toJobNode = (job: JobColumns): JobNode => ({
  spanId: job.span_id,
  parentSpanId: job.parent_span_id,
  name: job.name,
  stage: job.stage ?? null,
  status: job.status ?? null,
  isBridge: job.is_bridge === 1,
  hasRun: job.has_run === 1,
  startNs: BigInt(job.start_ns),
  endNs: BigInt(job.end_ns),
  runner: job.runner_name ?? job.runner_id ?? null,
  tags: JSON.parse(job.runner_tags_json ?? '[]'),
})
