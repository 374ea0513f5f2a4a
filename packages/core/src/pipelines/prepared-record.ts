import { createHash } from 'node:crypto'
import { type JobColumns, jobColumnsOf } from './job-columns.ts'
import type { PipelineDraft } from './pipeline.ts'
import {
  asOf,
  isUpstreamElsewhere,
  type ProjectNames,
  type PutRecord,
  pipelineDraftOf,
  putRecordInput,
  type UpstreamNames,
  upstreamNamesOf,
} from './pipeline-record.ts'
import type { RecordVersion } from './record-version.ts'

/** A draft whose jobs are stored apart. */
export type PipelineHead = Omit<PipelineDraft, 'jobs'>

/** What is stored of a pipeline itself. */
export interface PreparedPipeline {
  readonly head: PipelineHead
  readonly version: RecordVersion
}

/**
 * A record that is ready to be stored. Everything that takes time in proportion to its jobs has been done, so that a large one
 * can be prepared in a worker thread; it is plain data.
 */
export interface PreparedRecord {
  readonly project: PutRecord['project']
  readonly pipelineId: number
  readonly payload: string
  readonly upstreamNames: UpstreamNames
  /** What is stored if the pipeline upstream is one of the same project, or there is none. */
  readonly withinProject: PreparedPipeline
  /** What is stored if the pipeline upstream is one of another project. Which it is depends on the project, which is not known yet. */
  readonly acrossProjects: PreparedPipeline | undefined
  readonly jobs: readonly JobColumns[]
  /** Of the jobs, in the order of their first jobs. */
  readonly stages: readonly string[]
}

/** Input of `putPipelineRecord`: a hook, which becomes a `PreparedRecord`. */
export const preparedRecordInput = putRecordInput.transform(prepareRecord)

function prepareRecord(input: PutRecord): PreparedRecord {
  const { project, pipelineId, payload } = input
  const draft = pipelineDraftOf(input, undefined)
  const asOfMs = asOf(draft)
  const prepared = (isOtherProject: boolean): PreparedPipeline => {
    // In its place among the keys, which the digest depends on.
    const decided = { ...draft, upstream: draft.upstream && { ...draft.upstream, isOtherProject } }
    const digest = createHash('sha256').update(JSON.stringify(decided)).digest('base64url')
    const { jobs: _, ...head } = decided
    return { head, version: { status: draft.status, asOfMs, digest } }
  }
  return {
    project,
    pipelineId,
    payload,
    upstreamNames: upstreamNamesOf(input),
    withinProject: prepared(false),
    acrossProjects: draft.upstream === undefined ? undefined : prepared(true),
    jobs: draft.jobs.map(jobColumnsOf),
    stages: [...new Set(draft.jobs.flatMap(({ stage }) => stage ?? []))],
  }
}

/** Returns what is to be stored in the project of these names. */
export function pipelineFor(
  { upstreamNames, withinProject, acrossProjects }: PreparedRecord,
  own: ProjectNames,
): PreparedPipeline {
  if (acrossProjects === undefined) return withinProject
  return isUpstreamElsewhere(upstreamNames, own) ? acrossProjects : withinProject
}
