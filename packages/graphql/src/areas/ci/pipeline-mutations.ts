import {
  cancelJob,
  cancelPipeline,
  findJob,
  findPipeline,
  type InputSchema,
  type JobOfPipeline,
  type Operation,
  type Pipeline,
  playJob,
  removeJobArtifacts,
  removePipeline,
  retryJob,
  retryPipeline,
  startPipeline,
  unscheduleJob,
} from '@penstock/core'
import { performIn, type RequestContext } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation } from '../../schema/mutation.ts'
import { ciEnums } from './ci-enums.ts'

/** Adds the mutations of pipelines and jobs. Pipelines only run elsewhere, so the core rejects most of these changes. */
export function addPipelineMutations(kit: Kit): void {
  const { builder } = kit
  const enums = ciEnums(kit)

  const variable = builder.inputType('CiVariableInput', {
    fields: (t) => ({
      key: t.string({ required: true }),
      value: t.string({ required: true }),
      variableType: t.field({ type: enums.variableType }),
    }),
  })
  const input = builder.inputType('CiInputsInput', {
    description: 'Typed pipeline or job input; destroy only matters for schedules',
    fields: (t) => ({
      name: t.string({ required: true }),
      value: t.field({ type: 'CiInputsValue', required: true }),
      destroy: t.boolean(),
    }),
  })

  mutation(kit, 'pipelineCreate', {
    input: (t) => ({
      projectPath: t.id({ required: true }),
      ref: t.string({ required: true }),
      variables: t.field({ type: [variable] }),
      inputs: t.field({ type: [input], description: 'Experimental' }),
      async: t.boolean({ description: 'Experimental' }),
      mergeRequestIid: t.string({ description: 'Experimental' }),
    }),
    run: ({ projectPath }, context): Promise<{ pipeline?: Pipeline; requestId?: string }> =>
      performIn(context, startPipeline, { project: projectPath }),
    payload: (t) => ({
      pipeline: t.field({ type: 'Pipeline', resolve: ({ pipeline }) => pipeline }),
      requestId: t.string({ resolve: ({ requestId }) => requestId }),
    }),
  })

  const pipelineChanges = { pipelineCancel: cancelPipeline, pipelineRetry: retryPipeline } as const
  for (const [name, operation] of Object.entries(pipelineChanges)) {
    mutation(kit, name, {
      input: (t) => ({ id: t.field({ type: 'CiPipelineID', required: true }) }),
      run: ({ id }, context) => changePipeline(context, operation, id),
      payload: (t) => ({ pipeline: t.field({ type: 'Pipeline', resolve: ({ pipeline }) => pipeline }) }),
    })
  }

  mutation(kit, 'pipelineDestroy', {
    input: (t) => ({ id: t.field({ type: 'CiPipelineID', required: true }) }),
    run: ({ id }, context) => changePipeline(context, removePipeline, id),
    payload: () => ({}),
  })

  const processableChanges = { jobPlay: playJob, jobRetry: retryJob } as const
  for (const [name, operation] of Object.entries(processableChanges)) {
    mutation(kit, name, {
      input: (t) => ({
        id: t.field({ type: 'CiProcessableID', required: true }),
        variables: t.field({ type: [variable], defaultValue: [] }),
        inputs: t.field({ type: [input], defaultValue: [] }),
      }),
      run: ({ id }, context) => changeJob(context, operation, id),
      payload: (t) => ({ job: t.field({ type: 'CiJob', resolve: ({ job }) => job }) }),
    })
  }

  const buildChanges = { jobCancel: cancelJob, jobUnschedule: unscheduleJob } as const
  for (const [name, operation] of Object.entries(buildChanges)) {
    mutation(kit, name, {
      input: (t) => ({ id: t.field({ type: 'CiBuildID', required: true }) }),
      run: ({ id }, context) => changeJob(context, operation, id),
      payload: (t) => ({ job: t.field({ type: 'CiJob', resolve: ({ job }) => job }) }),
    })
  }

  mutation(kit, 'jobArtifactsDestroy', {
    input: (t) => ({ id: t.field({ type: 'CiBuildID', required: true }) }),
    run: ({ id }, context) => changeJob(context, removeJobArtifacts, id),
    payload: (t) => ({
      job: t.field({ type: 'CiJob', resolve: ({ job }) => job }),
      destroyedArtifactsCount: t.int({ nullable: false, resolve: () => 0 }),
    }),
  })
}

/** Finds a pipeline by its Global ID, and changes it within its project. */
async function changePipeline(
  context: RequestContext,
  operation: Operation<InputSchema, unknown>,
  globalNumber: number,
): Promise<{ readonly pipeline: Pipeline }> {
  const pipeline = await performIn(context, findPipeline, { globalNumber })
  await performIn(context, operation, { project: pipeline.projectId, pipelineId: pipeline.id })
  return { pipeline }
}

async function changeJob(
  context: RequestContext,
  operation: Operation<InputSchema, unknown>,
  globalNumber: number,
): Promise<{ readonly job: JobOfPipeline }> {
  const job = await performIn(context, findJob, { globalNumber })
  await performIn(context, operation, { project: job.pipeline.projectId, jobId: job.id })
  return { job }
}
