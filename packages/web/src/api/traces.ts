import type { PipelineRun } from './answers.ts'
import { getJson, getPage, type Page, type Query } from './client.ts'

/** A trace in a list. */
export interface TraceSummary {
  readonly trace_id: string
  readonly start_time_unix_nano: string
  readonly end_time_unix_nano: string
  readonly spans: number
  readonly errors: number
  readonly services: readonly string[]
  readonly root: { readonly name: string; readonly service: string; readonly status_code: number } | null
  /** The pipeline run at the root; null if the trace is of something else. */
  readonly run: Pick<PipelineRun, 'project' | 'name' | 'pipeline_id' | 'ref' | 'status' | 'jobs_failed'> | null
}

/** Returns a page of traces, the latest start first. */
export function listTraces(query: Query, signal?: AbortSignal): Promise<Page<TraceSummary>> {
  return getPage<TraceSummary>('/api/v1/observe/traces', query, signal)
}

/** A service that has sent telemetry. */
export interface ServiceSummary {
  readonly name: string
}

/** Returns the services that have sent telemetry. */
export function listServices(signal?: AbortSignal): Promise<readonly ServiceSummary[]> {
  return getJson<readonly ServiceSummary[]>('/api/v1/observe/services', {}, signal)
}
