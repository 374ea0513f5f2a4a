import { z } from 'zod'
import { DomainError } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { ProjectRef } from '../../base/model/project.ts'
import { type Operation, query } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { getProcessableRow } from './job-store.ts'
import { jobInput, pipelineInput } from './pipeline.ts'
import { getPipelineRow } from './pipeline-store.ts'

/**
 * Operations that would start, cancel or retry pipelines and jobs. Pipelines run elsewhere and are only recorded here,
 * so these always fail with `impossible`, for users who have the permission.
 */

export const startPipeline = impossibleOperation(
  'startPipeline',
  z.object({ project: namespaceRef }),
  'Pipelines are started elsewhere and recorded here',
)
export const cancelPipeline = impossibleOperation('cancelPipeline', pipelineInput, 'Pipeline is not cancelable')
export const retryPipeline = impossibleOperation('retryPipeline', pipelineInput, 'Pipeline is not retryable')
export const playJob = impossibleOperation('playJob', jobInput, 'Job is not playable')
export const retryJob = impossibleOperation('retryJob', jobInput, 'Job is not retryable')
export const cancelJob = impossibleOperation('cancelJob', jobInput, 'Job is not cancelable')
export const eraseJob = impossibleOperation('eraseJob', jobInput, 'Job is not erasable')
export const unscheduleJob = impossibleOperation('unscheduleJob', jobInput, 'Job is not scheduled here')
export const removeJobArtifacts = impossibleOperation(
  'removeJobArtifacts',
  jobInput,
  'Artifacts are kept where the job ran, and not here',
)

/** The pipeline or the job to change, which must exist. */
interface Target {
  readonly pipelineId?: number
  readonly jobId?: number
}

function impossibleOperation<Input extends z.ZodType<Target & { readonly project: ProjectRef }>>(
  name: string,
  input: Input,
  message: string,
): Operation<Input, never> {
  const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) => getProject(context, project)
  return query({ name, input, permission: 'create_pipeline_record', subject }, async (context, target) => {
    const { pipelineId, jobId }: Target = target
    if (pipelineId !== undefined) await getPipelineRow(context, context.subject, pipelineId)
    if (jobId !== undefined) await getProcessableRow(context, context.subject, jobId)
    throw new DomainError({ code: 'impossible', message })
  })
}
