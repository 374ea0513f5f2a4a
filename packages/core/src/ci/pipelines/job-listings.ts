import { z } from 'zod'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Listed, listedEach } from '../../base/kit/listing.ts'
import type { Project } from '../../base/model/project.ts'
import { batchQuery, unscopedBatchQuery, unscopedQuery } from '../../base/operations/operation.ts'
import {
  findReadableJob,
  findReadableRunners,
  jobListing,
  jobOfEachPipeline,
  jobOfEachProject,
  jobsOfEachPipeline,
  jobTallies,
  pipelineJobListing,
  projectJobListing,
} from './job-listing-store.ts'
import { readablePipelinesByKey, upstreamOfEach } from './linked-pipeline-store.ts'
import {
  allJobsInput,
  type JobOfPipeline,
  jobsOfEachPipelineInput,
  jobsOfEachProjectInput,
  type Pipeline,
  type RecordedRunner,
} from './pipeline.ts'
import { pipelineKeyOfStage, type Stage, stagesOf } from './stage.ts'

/** Lists the jobs of each pipeline, including bridges, newest first. */
export const listJobsOfEachPipeline = unscopedBatchQuery(
  { name: 'listJobsOfEachPipeline', input: jobsOfEachPipelineInput },
  async (context, pipelines: readonly Pipeline[], filter) =>
    listedEach(pipelineJobListing(context, pipelines, filter), pipelines.length),
)

/** Lists the jobs of each project, including bridges, newest first. */
export const listJobsOfEachProject = batchQuery(
  { name: 'listJobsOfEachProject', input: jobsOfEachProjectInput, permission: 'read_pipeline' },
  async (context, projects: readonly Project[], filter) =>
    listedEach(projectJobListing(context, projects, filter), projects.length),
)

/** Lists the jobs of all projects. */
export const listAllJobs = unscopedQuery(
  { name: 'listAllJobs', caller: 'administrator', input: allJobsInput },
  async (context, filter): Promise<Listed<JobOfPipeline>> => listedEach(jobListing(context, filter), 1)[0]!,
)

export const findJobOfEachProject = batchQuery(
  { name: 'findJobOfEachProject', input: z.object({ globalNumber: z.int() }), permission: 'read_pipeline' },
  (context, projects: readonly Project[], { globalNumber }) => jobOfEachProject(context, projects, globalNumber),
)

/** Returns one job of each pipeline: the one with the Global ID number, or the current one with the name. */
export const findJobOfEachPipeline = unscopedBatchQuery(
  {
    name: 'findJobOfEachPipeline',
    input: z.object({ globalNumber: z.int().optional(), name: z.string().max(1_024).optional() }),
  },
  (context, pipelines: readonly Pipeline[], wanted) =>
    jobOfEachPipeline(
      context,
      pipelines.map((pipeline) => ({ pipeline, ...wanted })),
    ),
)

/**
 * Returns the bridge job that started each pipeline. It belongs to the upstream pipeline that the record of the
 * pipeline names.
 */
export const sourceJobsOfPipelines = unscopedBatchQuery(
  { name: 'sourceJobsOfPipelines', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]): Promise<(JobOfPipeline | undefined)[]> => {
    const upstreams = await upstreamOfEach(context, context.actor, pipelines)
    const found = pipelines.flatMap(({ upstream }, index) => {
      const [pipeline, jobId] = [upstreams[index], upstream?.jobId]
      return pipeline === undefined || jobId === undefined ? [] : { pipeline, jobId }
    })
    const jobs = await jobOfEachPipeline(context, found)
    const byPipeline = new Map<string, JobOfPipeline>()
    for (const job of jobs) if (job !== undefined) byPipeline.set(`${job.pipeline.key} ${job.id}`, job)
    return pipelines.map(({ upstream }, index) => byPipeline.get(`${upstreams[index]?.key} ${upstream?.jobId}`))
  },
)

export interface PipelineTally {
  /** The number of jobs, including superseded attempts. */
  readonly all: number
  /** The number of current jobs by status. */
  readonly currentByStatus: ReadonlyMap<string, number>
}

export const talliesOfPipelines = unscopedBatchQuery(
  { name: 'talliesOfPipelines', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]): Promise<PipelineTally[]> => {
    const tallies = await jobTallies(context, pipelines)
    return pipelines.map(({ key }) => {
      const tally = tallies.get(key)!
      return {
        all: tally.reduce((sum, { count }) => sum + count, 0),
        currentByStatus: new Map(tally.flatMap(({ status, isRetried, count }) => (isRetried ? [] : [[status, count]]))),
      }
    })
  },
)

/** Returns all jobs of each pipeline in the order of their ids, including superseded attempts. */
export const jobsOfPipelines = unscopedBatchQuery(
  { name: 'jobsOfPipelines', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]): Promise<(readonly JobOfPipeline[])[]> => {
    const jobs = await jobsOfEachPipeline(context, pipelines)
    return pipelines.map(({ key }) => jobs.get(key)!)
  },
)

export const stagesOfPipelines = unscopedBatchQuery(
  { name: 'stagesOfPipelines', input: z.object({}) },
  async (context, pipelines: readonly Pipeline[]): Promise<Stage[][]> => {
    const jobs = await jobsOfEachPipeline(context, pipelines)
    return pipelines.map((pipeline) => stagesOf(pipeline, jobs.get(pipeline.key)!))
  },
)

export interface StageOfPipeline {
  readonly pipeline: Pipeline
  readonly name: string
}

/** Returns the stages with these ids, and `undefined` for those of pipelines that the actor may not see. */
export const findEachStage = unscopedBatchQuery(
  { name: 'findEachStage', input: z.object({}) },
  async (context, ids: readonly number[]): Promise<(StageOfPipeline | undefined)[]> => {
    const pipelines = await readablePipelinesByKey(context, context.actor, ids.map(pipelineKeyOfStage))
    const jobs = await jobsOfEachPipeline(context, [...pipelines.values()])
    const stages = new Map<number, StageOfPipeline>()
    for (const [key, pipeline] of pipelines) {
      for (const { id, name } of stagesOf(pipeline, jobs.get(key)!)) stages.set(id, { pipeline, name })
    }
    return ids.map((id) => stages.get(id))
  },
)

/** Finds a job by its Global ID number. */
export const findJob = unscopedQuery(
  { name: 'findJob', caller: 'anyone', input: z.object({ globalNumber: z.int() }) },
  async (context, { globalNumber }): Promise<JobOfPipeline> => {
    const job = await findReadableJob(context, context.actor, globalNumber)
    if (job === undefined) throw notFound()
    return job
  },
)

/** Returns the runners with these ids, with the data from the latest jobs that the actor may see. */
export const findEachRunner = unscopedBatchQuery(
  { name: 'findEachRunner', input: z.object({}) },
  async (context, ids: readonly number[]): Promise<(RecordedRunner | undefined)[]> => {
    const found = await findReadableRunners(context, context.actor, ids)
    return ids.map((id) => found.get(id))
  },
)
