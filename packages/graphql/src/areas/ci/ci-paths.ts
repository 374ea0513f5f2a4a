import type { JobOfPipeline, Pipeline, StageOfPipeline } from '@penstock/core'
import { encodedPath, type WebAddress } from '../../schema/web-address.ts'

/** Returns the page paths of pipelines, stages, jobs and commits. */
export function ciPaths(web: WebAddress) {
  const pipelinePath = ({ projectPath, id }: Pipeline): string => web.path(`${projectPath}/-/pipelines/${id}`)
  return {
    pipelinePath,
    stagePath: ({ pipeline, name }: StageOfPipeline): string => `${pipelinePath(pipeline)}#${encodeURIComponent(name)}`,
    jobPath: ({ pipeline, id }: JobOfPipeline): string => web.path(`${pipeline.projectPath}/-/jobs/${id}`),
    commitPath: ({ projectPath, sha }: Pipeline): string | undefined =>
      sha && web.path(`${projectPath}/-/commit/${encodeURIComponent(sha)}`),
    commitsPath: ({ projectPath, ref }: Pipeline): string | undefined =>
      ref && web.path(`${projectPath}/-/commits/${encodedPath(ref)}`),
  }
}

export const shortSha = ({ sha }: Pipeline): string | undefined => sha?.slice(0, 8)
