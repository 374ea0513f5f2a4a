import type { JobOfPipeline, Pipeline } from '@penstock/core'

/** Where things of CI would be looked at, below the instance's address. */

export const pipelinePath = ({ projectPath, id }: Pipeline): string => `/${projectPath}/-/pipelines/${id}`
export const jobPath = ({ pipeline, id }: JobOfPipeline): string => `/${pipeline.projectPath}/-/jobs/${id}`

export const commitPath = ({ projectPath, sha }: Pipeline): string | undefined =>
  sha && `/${projectPath}/-/commit/${encodeURIComponent(sha)}`

export const commitsPath = ({ projectPath, ref }: Pipeline): string | undefined =>
  ref && `/${projectPath}/-/commits/${ref.split('/').map(encodeURIComponent).join('/')}`

export const shortSha = ({ sha }: Pipeline): string | undefined => sha?.slice(0, 8)
