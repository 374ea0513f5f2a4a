import { projectUrl } from '../body/url.ts'
import type { RunId } from '../record/run-id.ts'

/**
 * Returns the URL of a project, read from the URL of its pipeline. Versions before 12 write `/pipelines/` instead of
 * `/-/pipelines/`.
 */
export function projectUrlIn(pipelineUrl: string | undefined): string | undefined {
  if (pipelineUrl === undefined) return undefined
  const marked = pipelineUrl.lastIndexOf('/-/pipelines/')
  const end = marked >= 0 ? marked : pipelineUrl.search(/\/pipelines\/\d{1,19}\/?$/)
  return end > 0 ? projectUrl(pipelineUrl.slice(0, end)) : undefined
}

export function pipelineUrl(projectWebUrl: string | undefined, pipelineId: RunId): string | undefined {
  return projectWebUrl === undefined ? undefined : `${projectWebUrl}/-/pipelines/${pipelineId}`
}

export function jobUrl(projectWebUrl: string | undefined, jobId: RunId): string | undefined {
  return projectWebUrl === undefined ? undefined : `${projectWebUrl}/-/jobs/${jobId}`
}
