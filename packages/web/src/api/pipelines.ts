import { getJson, getPage, type Page, type Query } from './client.ts'

/** A job in the drawing of a run. */
export interface ShapeJob {
  readonly name: string
  readonly stage: string | null
  readonly status: string | null
  readonly start_ns: string
  readonly end_ns: string
}

export type RefKind = 'default_branch' | 'other_branch' | 'tag' | 'merge_request'

/** A pipeline run. Values that are unknown are null; times are nanoseconds as text. */
export interface PipelineRun {
  readonly trace_id: string
  readonly span_id: string
  readonly service: string
  readonly namespace: string | null
  readonly name: string | null
  readonly project: string | null
  readonly project_url: string | null
  readonly pipeline_id: string | null
  readonly ref: string | null
  readonly ref_kind: RefKind | null
  readonly sha: string | null
  readonly title: string | null
  readonly trigger: string | null
  readonly user: string | null
  readonly url: string | null
  readonly status: string | null
  readonly start_ns: string
  readonly end_ns: string
  /** Null until the run has finished. */
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

/** The values that filters offer. */
export interface Facets {
  readonly services: readonly string[]
  readonly projects: readonly string[]
  readonly refs: readonly string[]
  readonly statuses: readonly string[]
}

const PATH = '/api/v1/observe'

/** Returns a page of pipeline runs, the newest start first. */
export function listPipelines(query: Query, signal?: AbortSignal): Promise<Page<PipelineRun>> {
  return getPage<PipelineRun>(`${PATH}/pipelines`, query, signal)
}

/** Returns the run of a trace's root. */
export function getPipeline(traceId: string, signal?: AbortSignal): Promise<PipelineRun> {
  return getJson<PipelineRun>(`${PATH}/pipelines/${encodeURIComponent(traceId)}`, {}, signal)
}

/** Returns the values that runs have, for filters. */
export function getFacets(query: Query, signal?: AbortSignal): Promise<Facets> {
  return getJson<Facets>(`${PATH}/facets`, query, signal)
}
