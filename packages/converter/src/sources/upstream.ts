import type { ProjectRecord, UpstreamPipeline } from '../record.ts'
import { type Fields, id, section, text, warn } from './fields.ts'
import { projectUrl, url } from './web-url.ts'

/**
 * `source_pipeline`: the pipeline that started this one. One that names the pipeline itself is dropped with a warning.
 *
 * @see spec/pipeline-telemetry.md 2.5, 7 (46, 47)
 */
export function readUpstream(
  owner: Fields,
  run: { pipelineId: bigint; project: ProjectRecord; source: string | undefined },
): UpstreamPipeline | undefined {
  const upstream = section(owner, 'source_pipeline')
  if (upstream === undefined) return undefined
  const pipelineId = id(upstream, 'pipeline_id')
  if (pipelineId === undefined) return undefined
  if (pipelineId === run.pipelineId) {
    warn(upstream, 'pipeline_id', 'names the pipeline itself; read as a root pipeline')
    return undefined
  }
  const home = section(upstream, 'project')
  const project = {
    id: home && id(home, 'id'),
    path: home && text(home, 'path_with_namespace'),
    webUrl: projectUrl(home && url(home, 'web_url')),
  }
  return {
    pipelineId,
    bridgeId: id(upstream, 'bridge_id') ?? id(upstream, 'job_id'),
    // Without two values to compare, the pipeline's own source tells: `pipeline` is a trigger from another project.
    otherProject:
      differ(project.id, run.project.id) ??
      differ(project.path, run.project.path) ??
      differ(project.webUrl, run.project.webUrl) ??
      run.source === 'pipeline',
    projectWebUrl: project.webUrl,
    projectId: project.id,
    projectPath: project.path,
  }
}

function differ<T>(theirs: T | undefined, ours: T | undefined): boolean | undefined {
  return theirs === undefined || ours === undefined ? undefined : theirs !== ours
}
