import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type DeployingJob, deployingJobsOf } from './deploying-jobs.ts'
import { type JobColumns, jobColumnsOf } from './job-columns.ts'
import type { PipelineDraft, RecordedVariable } from './pipeline.ts'
import {
  asOf,
  type PipelineHook,
  type PutRecord,
  putRecordInput,
  readHook,
  storedVariables,
  toPipelineDraft,
} from './pipeline-record.ts'
import type { RecordVersion } from './record-version.ts'
import { isUpstreamElsewhere, type ProjectNames, toUpstreamNames, type UpstreamNames } from './upstream-project.ts'

/** A draft without its jobs, which are stored apart. */
export type PipelineHead = Omit<PipelineDraft, 'jobs'>

/** The head of a pipeline, and the version of its record. */
interface PreparedPipeline {
  readonly head: PipelineHead
  readonly version: RecordVersion
}

/**
 * A record that is ready to be stored. It is plain data, and all work that grows with the number of jobs has been done,
 * so that a large record can be prepared in a worker thread.
 */
export interface PreparedRecord {
  readonly project: PutRecord['project']
  readonly payload: string
  readonly upstreamNames: UpstreamNames
  /** The pipeline to store if the upstream pipeline belongs to the same project, or there is none. */
  readonly withinProject: PreparedPipeline
  /**
   * The pipeline to store if the upstream pipeline belongs to another project. The project of the record, which is not
   * known here, decides between the two.
   */
  readonly acrossProjects: PreparedPipeline | undefined
  readonly jobs: readonly JobColumns[]
  readonly deployingJobs: readonly DeployingJob[]
  /** The stages of the jobs, in the order of their first jobs. */
  readonly stages: readonly string[]
  readonly variables: readonly RecordedVariable[]
}

/** The input of `putPipelineRecord`: a hook, which becomes a `PreparedRecord`. */
export const preparedRecordInput = putRecordInput.transform((input, context) => {
  const hook = readHook(input, context)
  return hook === undefined ? z.NEVER : prepareRecord(input, hook)
})

function prepareRecord({ project, payload }: PutRecord, hook: PipelineHook): PreparedRecord {
  const draft = toPipelineDraft(hook)
  const asOfMs = asOf(draft)
  const prepared = (isOtherProject: boolean): PreparedPipeline => {
    // `upstream` keeps its place among the keys, because the digest depends on it.
    const decided = { ...draft, upstream: draft.upstream && { ...draft.upstream, isOtherProject } }
    const digest = createHash('sha256').update(JSON.stringify(decided)).digest('base64url')
    const { jobs: _, ...head } = decided
    return { head, version: { status: draft.status, asOfMs, digest } }
  }
  return {
    project,
    payload,
    upstreamNames: toUpstreamNames(hook.record),
    withinProject: prepared(false),
    acrossProjects: draft.upstream === undefined ? undefined : prepared(true),
    jobs: draft.jobs.map(jobColumnsOf),
    deployingJobs: deployingJobsOf(draft.jobs),
    stages: [...new Set(draft.jobs.flatMap(({ stage }) => stage ?? []))],
    variables: storedVariables(hook.details),
  }
}

/** Returns the pipeline to store if the record belongs to the project with these names. */
export function pipelineFor(
  { upstreamNames, withinProject, acrossProjects }: PreparedRecord,
  own: ProjectNames,
): PreparedPipeline {
  if (acrossProjects === undefined) return withinProject
  return isUpstreamElsewhere(upstreamNames, own) ? acrossProjects : withinProject
}
