import { type Fields, id, isObject, section, text, warn } from '../body/fields.ts'
import { projectUrl, url } from '../body/url.ts'
import type { ProjectRecord, UpstreamPipeline } from '../record/pipeline-record.ts'

/**
 * Reads `source_pipeline`, the pipeline that started this one. If it is the pipeline itself, it is dropped with a
 * warning.
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
  const projectFields = section(upstream, 'project')
  const project = {
    id: projectFields && id(projectFields, 'id'),
    path: projectFields && text(projectFields, 'path_with_namespace'),
    webUrl: projectUrl(projectFields && url(projectFields, 'web_url')),
  }
  return {
    pipelineId,
    bridgeId: id(upstream, 'bridge_id') ?? id(upstream, 'job_id'),
    // If no field is known on both sides, the source of the pipeline decides: `pipeline` is a trigger from another project.
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

/** Returns the root that `source_pipeline` states by naming the pipeline itself. */
export function ownRoot(owner: Fields, pipelineId: bigint): bigint | undefined {
  const { source_pipeline: upstream } = owner.values
  return isObject(upstream) && String(upstream.pipeline_id) === String(pipelineId) ? pipelineId : undefined
}

function differ<T>(theirs: T | undefined, ours: T | undefined): boolean | undefined {
  return theirs === undefined || ours === undefined ? undefined : theirs !== ours
}
