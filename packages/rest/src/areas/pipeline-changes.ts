import {
  cancelJob,
  cancelPipeline,
  eraseJob,
  type InputSchema,
  type Operation,
  playJob,
  retryJob,
  retryPipeline,
  startPipeline,
} from '@penstock/core'
import { type Area, type RestRoute, route } from '../routing/route.ts'
import { changedJob, startedPipeline } from './parameters/pipelines.ts'
import { jobShape } from './shapes/job-shape.ts'
import { pipelineShape } from './shapes/pipeline-shape.ts'

const names = { project: 'id' }

const pipelineChange = (path: string, operation: Operation<InputSchema, never>, summary: string): RestRoute =>
  route({
    method: 'POST',
    path: `/projects/:id/${path}`,
    operation,
    parameters: startedPipeline,
    names,
    shape: pipelineShape,
    summary,
  })

const jobChange = (action: string, operation: Operation<InputSchema, never>): RestRoute =>
  route({
    method: 'POST',
    path: `/projects/:id/jobs/:job_id/${action}`,
    operation,
    parameters: changedJob,
    names,
    shape: jobShape,
    summary: `Answers 422, because recorded jobs run elsewhere, where a client can ${action} them.`,
  })

/**
 * The requests that would start or change pipelines and jobs. These run elsewhere, so each request is rejected with
 * that reason.
 */
export const pipelineChangesArea: Area = {
  tag: 'Pipelines',
  routes: [
    pipelineChange(
      'pipeline',
      startPipeline,
      'Answers 422, because pipelines are started elsewhere and recorded here.',
    ),
    pipelineChange(
      'pipelines/:pipeline_id/retry',
      retryPipeline,
      'Answers 422, because recorded pipelines run elsewhere.',
    ),
    pipelineChange(
      'pipelines/:pipeline_id/cancel',
      cancelPipeline,
      'Answers 422, because recorded pipelines run elsewhere.',
    ),
    jobChange('play', playJob),
    jobChange('retry', retryJob),
    jobChange('cancel', cancelJob),
    jobChange('erase', eraseJob),
  ],
}
