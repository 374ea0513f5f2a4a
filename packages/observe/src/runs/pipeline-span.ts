import type { Insertable } from 'kysely'
import type { PipelineJobTable, PipelineRunTable } from '../schema/pipeline-tables.ts'
import {
  AttributeMap,
  jobKeys,
  MAX_TEXT,
  pipelineSpanKind,
  projectKeys,
  runKeys,
  statusColumns,
} from './pipeline-attributes.ts'
import { toRefKind } from './run-kind.ts'

type StoredLater = 'id' | 'service_id' | 'span_row_id'

/** The columns of a run that its own span determines. */
export type RunColumns = Omit<
  Insertable<PipelineRunTable>,
  StoredLater | 'is_child' | 'jobs' | 'jobs_failed' | 'failed_jobs_json' | 'shape_json'
>

/** The columns of a job that its own span determines. */
export type JobColumns = Omit<Insertable<PipelineJobTable>, StoredLater | 'run_id' | 'critical_seconds'>

export interface StageColumns {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string
}

/** The draft of a row that is derived from one span. */
export type PipelineSpan =
  | { readonly kind: 'run'; readonly columns: RunColumns }
  | { readonly kind: 'job'; readonly columns: JobColumns }
  | { readonly kind: 'stage'; readonly columns: StageColumns }

/** The fields of a span that are stored in columns. */
export interface SpanFields {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly isError: boolean
  readonly startNs: bigint
  readonly endNs: bigint
}

const JOB_PREFIX = /^job: /

/** The statuses of jobs that have not run, which a span of no length represents. */
const neverRan: ReadonlySet<string> = new Set([
  'skipped',
  'created',
  'manual',
  'scheduled',
  'pending',
  'preparing',
  'waiting_for_resource',
  'waiting_for_callback',
])

/**
 * Returns the draft of a run, job or stage; `undefined` for a span that is not of a CI system.
 *
 * @param attributes the span's list of KeyValue in OTLP/JSON
 * @param resourceJson the stored document of its resource
 */
export function toPipelineSpan(span: SpanFields, attributes: unknown, resourceJson: string): PipelineSpan | undefined {
  if (!mayBePipelineSpan(attributes)) return undefined
  const own = new AttributeMap(attributes)
  const place = { trace_id: span.traceId, span_id: span.spanId, parent_span_id: span.parentSpanId }
  const times = { start_ns: span.startNs, end_ns: span.endNs }
  switch (pipelineSpanKind(own)) {
    case 'stage':
      return { kind: 'stage', columns: place }
    case 'job':
      return { kind: 'job', columns: { ...place, ...times, ...jobColumns(own, span) } }
    case 'run':
      return { kind: 'run', columns: { ...place, ...times, ...runColumns(own, attributes, span, resourceJson) } }
    default:
      return undefined
  }
}

const pipelineKey = /^(?:[a-z][a-z0-9_]*\.)?cicd\.pipeline\.|^pipeline\.id$|^job\.id$/

function mayBePipelineSpan(attributes: unknown): boolean {
  return ((attributes ?? []) as readonly { key?: string }[]).some(({ key = '' }) => pipelineKey.test(key))
}

function runColumns(own: AttributeMap, attributes: unknown, { name, isError }: SpanFields, resourceJson: string) {
  const resource = (JSON.parse(resourceJson) as { resource?: { attributes?: unknown } }).resource
  const withResource = new AttributeMap(attributes, resource?.attributes)
  const message = own.text(runKeys.commitMessage)?.split('\n', 1)[0]?.trim()
  return {
    ...statusColumns(own, runKeys, isError),
    ...projectColumns(withResource),
    forge: withResource.text(projectKeys.forge),
    name: own.text(runKeys.name) ?? withResource.text(projectKeys.name) ?? name.slice(0, MAX_TEXT),
    pipeline_id: own.text(runKeys.pipelineId),
    pipeline_iid: own.number(runKeys.iid),
    ref: own.text(runKeys.ref),
    ref_kind: toRefKind(own),
    sha: own.text(runKeys.sha),
    title: message || own.text(runKeys.changeTitle),
    trigger_type: own.text(runKeys.trigger),
    username: own.text(runKeys.username),
    url: own.text(runKeys.url),
    busy_seconds: own.number(runKeys.busySeconds),
    queue_seconds: own.number(runKeys.queueSeconds),
    coverage: own.number(runKeys.coverage),
  }
}

/** The path of a project is its owner and the last segment of its URL; the repository's name may be a title. */
export function projectColumns(attributes: AttributeMap) {
  const project_name = attributes.text(projectKeys.name)
  const namespace = attributes.text(projectKeys.owner)
  const project_url = attributes.text(projectKeys.url)
  const path = project_url !== null && URL.canParse(project_url) ? pathOf(new URL(project_url)) : null
  const slug = path?.split('/').at(-1) || project_name
  const project = namespace !== null && slug ? `${namespace}/${slug}` : (path ?? project_name)
  return { project, project_name, namespace, project_url }
}

function pathOf({ pathname }: URL): string | null {
  try {
    return decodeURIComponent(pathname).replace(/^\/+|\/+$|\.git$/g, '') || null
  } catch {
    return null
  }
}

function jobColumns(own: AttributeMap, { name, isError, startNs, endNs }: SpanFields) {
  const status = statusColumns(own, jobKeys, isError)
  const hasNoLength = startNs >= endNs
  const ran = own.flag(jobKeys.executed) ?? !(hasNoLength && neverRan.has(status.status ?? ''))
  const tags = own.texts(jobKeys.runnerTags)
  return {
    ...status,
    name: own.text(jobKeys.name) ?? name.replace(JOB_PREFIX, '').slice(0, MAX_TEXT),
    stage: own.text(jobKeys.stage),
    job_id: own.text(jobKeys.jobId),
    is_bridge: Number(own.text(jobKeys.kind) === 'bridge'),
    has_run: Number(ran),
    is_manual: Number(own.flag(jobKeys.manual) ?? own.text(jobKeys.when) === 'manual'),
    allow_failure: Number(own.flag(jobKeys.allowFailure) ?? false),
    failure_reason: status.status === 'failed' ? own.text(jobKeys.failureReason) : null,
    attempt: own.number(jobKeys.attempt),
    duration_seconds: own.number(jobKeys.durationSeconds),
    queue_seconds: own.number(jobKeys.queueSeconds),
    runner_id: own.text(jobKeys.runnerId),
    runner_name: own.text(jobKeys.runnerName),
    runner_tags_json: tags === null ? null : JSON.stringify(tags),
    environment: own.text(jobKeys.environment),
    username: own.text(jobKeys.username),
    url: own.text(jobKeys.url),
    coverage: own.number(jobKeys.coverage),
  }
}
