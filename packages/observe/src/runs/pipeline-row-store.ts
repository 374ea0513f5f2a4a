import { type Insertable, sql, type Transaction } from 'kysely'
import { inChunks } from '../schema/chunks.ts'
import type { PipelineTables } from '../schema/pipeline-tables.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { exactText } from '../schema/time-range.ts'
import { packRun } from './packed-run.ts'
import type { PipelineSpan } from './pipeline-span.ts'
import {
  type DerivedJob,
  type DerivedRun,
  derivePipelineTrace,
  type JobNode,
  type RunNode,
  type StageNode,
} from './pipeline-trace.ts'
import type { RunFacts } from './run-facts.ts'

type Tx = Transaction<ObserveTables>

/** The draft of a derived row, with the ids of the service and of the stored span. */
export interface PlacedPipelineSpan {
  readonly span: PipelineSpan
  readonly serviceId: number
  readonly spanRowId: number
}

/**
 * How many rows of a kind one trace may have, because every later request for the trace reads them. Spans beyond it are
 * stored, but get no rows.
 */
export const MAX_ROWS_PER_TRACE = 20_000

const tableOf = { run: 'pipeline_runs', job: 'pipeline_jobs', stage: 'pipeline_stages' } as const
type DerivedTable = (typeof tableOf)[keyof typeof tableOf]
const derivedTables = Object.values(tableOf) as readonly DerivedTable[]

/** Writes the rows of runs, jobs and stages, and derives again what depends on several spans of their traces. */
export async function writePipelineSpans(tx: Tx, spans: readonly PlacedPipelineSpan[]): Promise<void> {
  if (spans.length === 0) return
  const rows = rowsByTable(spans)
  for (const table of derivedTables) {
    await inChunks(await withinTraceLimit(tx, table, rows[table]), (chunk) => upsert(tx, table, chunk))
  }
  const traceIds = [...new Set(spans.map(({ span }) => span.columns.trace_id))]
  await inChunks(traceIds, (chunk) => deriveAgain(tx, chunk))
}

type Row = Record<string, unknown> & { readonly trace_id: string }

const noJobs = { is_child: 0, jobs: 0, jobs_failed: 0, failed_jobs_json: '[]', shape_json: '[]' }
const noRun = { run_id: null, critical_seconds: 0 }

function rowsByTable(spans: readonly PlacedPipelineSpan[]): Record<DerivedTable, Row[]> {
  const rows: Record<DerivedTable, Row[]> = { pipeline_runs: [], pipeline_jobs: [], pipeline_stages: [] }
  for (const { span, serviceId: service_id, spanRowId: span_row_id } of spans) {
    const { kind, columns } = span
    if (kind === 'run') rows.pipeline_runs.push({ ...columns, ...noJobs, service_id, span_row_id })
    else if (kind === 'job') rows.pipeline_jobs.push({ ...columns, ...noRun, service_id, span_row_id })
    else rows.pipeline_stages.push({ ...columns, span_row_id })
  }
  return rows
}

/** Leaves out the rows of traces that have as many rows as a trace may have. */
async function withinTraceLimit(tx: Tx, table: DerivedTable, rows: readonly Row[]): Promise<Row[]> {
  const counts = new Map<string, number>()
  await inChunks([...new Set(rows.map(({ trace_id }) => trace_id))], async (traceIds) => {
    const found = await tx
      .selectFrom(table)
      .select((eb) => ['trace_id', eb.fn.countAll<number>().as('rows')])
      .where('trace_id', 'in', traceIds)
      .groupBy('trace_id')
      .execute()
    for (const { trace_id, rows } of found) counts.set(trace_id, rows)
  })
  return rows.filter(({ trace_id }) => {
    const count = (counts.get(trace_id) ?? 0) + 1
    counts.set(trace_id, count)
    return count <= MAX_ROWS_PER_TRACE
  })
}

const identity: ReadonlySet<string> = new Set(['trace_id', 'span_id', 'span_row_id'])
const derivedColumns: ReadonlySet<string> = new Set([...Object.keys(noJobs), ...Object.keys(noRun)])

/** The order of two versions of a span: one that is final replaces one that is not, and the later end an earlier one. */
const isNewer = (table: string) =>
  sql`(excluded.is_final, excluded.end_ns) >= (${sql.table(table)}.is_final, ${sql.table(table)}.end_ns)`

async function upsert(tx: Tx, table: DerivedTable, rows: readonly Row[]): Promise<void> {
  const own = Object.keys(rows[0]!).filter((column) => !identity.has(column) && !derivedColumns.has(column))
  const condition = table === 'pipeline_stages' ? sql`true` : isNewer(table)
  const changes = Object.fromEntries(
    own.map((column) => [
      column,
      sql`case when ${condition} then ${sql.ref(`excluded.${column}`)} else ${sql.ref(`${table}.${column}`)} end`,
    ]),
  )
  await tx
    .insertInto(table)
    .values(rows as readonly Insertable<PipelineTables[DerivedTable]>[])
    .onConflict((conflict) =>
      conflict.columns(['trace_id', 'span_id']).doUpdateSet({
        ...changes,
        span_row_id: sql`max(${sql.table(table)}.span_row_id, excluded.span_row_id)`,
      }),
    )
    .execute()
}

interface Found<Node, Derived> {
  readonly id: number
  readonly node: Node
  readonly derived: Derived
}

interface FoundTrace {
  readonly runs: Found<RunNode, DerivedRun>[]
  readonly jobs: Found<JobNode, DerivedJob>[]
  readonly stages: StageNode[]
}

interface RunChange {
  readonly runId: number
  readonly facts: RunFacts
}

async function deriveAgain(tx: Tx, traceIds: readonly string[]): Promise<void> {
  const changedRuns: unknown[][] = []
  const changedJobs: unknown[][] = []
  const facts: RunChange[] = []
  for (const { runs, jobs, stages } of (await readTraces(tx, traceIds)).values()) {
    const derived = derivePipelineTrace({
      runs: runs.map(({ node }) => node),
      jobs: jobs.map(({ node }) => node),
      stages,
    })
    for (const { id, node, derived: known } of runs) {
      const { is_child, jobs, jobs_failed, failed_jobs_json, shape_json } = derived.runs.get(node.spanId)!
      const values = [is_child, jobs, jobs_failed, failed_jobs_json, shape_json]
      const before = [known.is_child, known.jobs, known.jobs_failed, known.failed_jobs_json, known.shape_json]
      if (values.some((value, at) => value !== before[at])) changedRuns.push([id, ...values])
      facts.push({ runId: id, facts: derived.facts.get(node.spanId)! })
    }
    for (const { id, node, derived: known } of jobs) {
      const { run_id, critical_seconds } = derived.jobs.get(node.spanId)!
      if (run_id === known.run_id && critical_seconds === known.critical_seconds) continue
      changedJobs.push([id, run_id, critical_seconds])
    }
  }
  // The changes are one parameter, so that the statement is compiled once however many rows change.
  if (changedRuns.length > 0) {
    await sql`update pipeline_runs set is_child = c.value ->> 1, jobs = c.value ->> 2, jobs_failed = c.value ->> 3,
      failed_jobs_json = c.value ->> 4, shape_json = c.value ->> 5
      from json_each(${JSON.stringify(changedRuns)}) as c where pipeline_runs.id = c.value ->> 0`.execute(tx)
  }
  if (changedJobs.length > 0) {
    await sql`update pipeline_jobs set run_id = c.value ->> 1, critical_seconds = c.value ->> 2
      from json_each(${JSON.stringify(changedJobs)}) as c where pipeline_jobs.id = c.value ->> 0`.execute(tx)
  }
  await inChunks(facts, (chunk) => writeRunFacts(tx, chunk))
}

/** Writes the facts that changed. Each gets a new id, so that a reader finds them by their ids. */
async function writeRunFacts(tx: Tx, runs: readonly RunChange[]): Promise<void> {
  const stored = await tx
    .selectFrom('pipeline_facts')
    .select(['run_id', 'facts_json', 'jobs'])
    .where(
      'run_id',
      'in',
      runs.map(({ runId }) => runId),
    )
    .execute()
  const known = new Map(stored.map((row) => [row.run_id, row]))
  const rows = runs.flatMap(({ runId, facts }) => {
    const packed = packRun(facts)
    const before = known.get(runId)
    const isSame = before?.facts_json === packed.facts_json && Buffer.compare(before.jobs, packed.jobs) === 0
    return isSame ? [] : [{ run_id: runId, ...packed }]
  })
  if (rows.length > 0) await tx.replaceInto('pipeline_facts').values(rows).execute()
}

async function readTraces(tx: Tx, traceIds: readonly string[]): Promise<Map<string, FoundTrace>> {
  const traces = new Map<string, FoundTrace>(traceIds.map((id) => [id, { runs: [], jobs: [], stages: [] }]))
  const runs = await tx
    .selectFrom('pipeline_runs as run')
    .innerJoin('services', 'services.id', 'run.service_id')
    .select(['run.id', 'run.trace_id', 'run.span_id', 'run.parent_span_id', 'run.trigger_type'])
    .select([exactText('run.start_ns').as('start'), exactText('run.end_ns').as('end'), 'services.key as service'])
    .select([
      'run.project',
      'run.project_name',
      'run.ref',
      'run.ref_kind',
      'run.name',
      'run.sha',
      'run.status',
      'run.queue_seconds',
    ])
    .select(['run.is_child', 'run.jobs', 'run.jobs_failed', 'run.failed_jobs_json', 'run.shape_json'])
    .where('run.trace_id', 'in', traceIds)
    .execute()
  for (const run of runs) {
    traces.get(run.trace_id)!.runs.push({
      id: run.id,
      node: {
        id: run.id,
        spanId: run.span_id,
        parentSpanId: run.parent_span_id,
        trigger: run.trigger_type,
        startNs: BigInt(run.start),
        endNs: BigInt(run.end),
        facts: {
          traceId: run.trace_id,
          service: run.service,
          project: run.project,
          projectName: run.project_name,
          ref: run.ref,
          refKind: run.ref_kind,
          name: run.name,
          trigger: run.trigger_type,
          sha: run.sha,
          status: run.status,
          queue: run.queue_seconds,
        },
      },
      derived: run,
    })
  }
  const jobs = await tx
    .selectFrom('pipeline_jobs')
    .select(['id', 'trace_id', 'span_id', 'parent_span_id', 'name', 'stage', 'status', 'is_bridge', 'has_run'])
    .select([exactText('start_ns').as('start'), exactText('end_ns').as('end'), 'run_id', 'critical_seconds'])
    .select((eb) => ['runner_tags_json', eb.fn.coalesce('runner_name', 'runner_id').as('runner')])
    .where('trace_id', 'in', traceIds)
    .execute()
  for (const job of jobs) {
    traces.get(job.trace_id)!.jobs.push({
      id: job.id,
      node: {
        spanId: job.span_id,
        parentSpanId: job.parent_span_id,
        name: job.name,
        stage: job.stage,
        status: job.status,
        isBridge: job.is_bridge === 1,
        hasRun: job.has_run === 1,
        startNs: BigInt(job.start),
        endNs: BigInt(job.end),
        runner: job.runner,
        tags: JSON.parse(job.runner_tags_json ?? '[]'),
      },
      derived: { run_id: job.run_id, critical_seconds: job.critical_seconds },
    })
  }
  const stages = await tx
    .selectFrom('pipeline_stages')
    .select(['trace_id', 'span_id', 'parent_span_id'])
    .where('trace_id', 'in', traceIds)
    .execute()
  for (const { trace_id, span_id, parent_span_id } of stages) {
    traces.get(trace_id)!.stages.push({ spanId: span_id, parentSpanId: parent_span_id })
  }
  return traces
}

/** Deletes the rows of spans that were deleted. Spans are deleted in the order of their ids. */
export async function deletePipelineRowsWithoutSpans(tx: Tx): Promise<void> {
  const isDeleted = sql<boolean>`span_row_id < (
    select coalesce(min(id), (select seq + 1 from sqlite_sequence where name = 'spans'), 0) from spans)`
  await tx
    .deleteFrom('pipeline_facts')
    .where('run_id', 'in', tx.selectFrom('pipeline_runs').select('id').where(isDeleted))
    .execute()
  for (const table of derivedTables) await tx.deleteFrom(table).where(isDeleted).execute()
}
