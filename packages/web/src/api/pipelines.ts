import type { Facets, PipelineRun } from './answers.ts'
import { getJson, getPage, type Page, type Query } from './client.ts'

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
