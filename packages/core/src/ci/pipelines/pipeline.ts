import { z } from 'zod'
import { keysetInput, pageInput } from '../../base/kit/page.ts'
import { instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { PassedOn } from './passed-on.ts'
import { pipelineStatuses } from './pipeline-status.ts'

/** A pipeline as its newest record describes it. Fields that the record leaves out are `undefined`. */
export interface Pipeline {
  /** The internal key. */
  readonly key: number
  /** The id from the record; unique within its project. */
  readonly id: number
  /** The number in its Global ID: the id, unless another project recorded that id earlier. */
  readonly globalNumber: number
  readonly iid: number | undefined
  readonly projectId: number
  readonly projectPath: string
  readonly name: string | undefined
  /** One of `pipelineStatuses`, or an unknown word. */
  readonly status: string
  /** The label, for example `passed with warnings`. */
  readonly detailedStatus: string | undefined
  readonly source: string | undefined
  readonly ref: string | undefined
  readonly isTag: boolean | undefined
  readonly sha: string | undefined
  readonly beforeSha: string | undefined
  readonly user: RecordedUser | undefined
  readonly commit: RecordedCommit | undefined
  readonly upstream: Upstream | undefined
  /** The iid of the merge request of its project for which it ran. */
  readonly mergeRequestIid: number | undefined
  readonly createdAtMs: number | undefined
  /** The start of its first job, if the record has no start. */
  readonly startedAtMs: number | undefined
  readonly finishedAtMs: number | undefined
  /** The time of the last change by a record. */
  readonly updatedAtMs: number
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  /**
   * The names of all stages that the pipeline has ever had, in the order of their ids; `undefined` if that is the order
   * of its jobs.
   */
  readonly stageOrder: readonly string[] | undefined
  /** Missing for posted statuses, and records of earlier versions. */
  readonly passedOn?: PassedOn | undefined
}

/** A user of the forge that ran the pipeline. The core may have no such user. */
export interface RecordedUser {
  readonly id?: number | undefined
  readonly username?: string | undefined
  readonly name?: string | undefined
}

export interface RecordedCommit {
  readonly id: string | undefined
  readonly title: string | undefined
  readonly message: string | undefined
  readonly authorName: string | undefined
  readonly committedAtMs: number | undefined
}

/** The pipeline that started this one through a bridge. */
export interface Upstream {
  readonly pipelineId: number
  readonly jobId: number | undefined
  readonly isOtherProject: boolean
  readonly projectPath: string | undefined
  /** The id and the URL as the record has them. */
  readonly projectId?: number | undefined
  readonly projectUrl?: string | undefined
}

/** One attempt of a job, or a bridge. */
export interface Job {
  /** The id from the record; unique within its project. */
  readonly id: number
  readonly isBridge: boolean
  /** Whether a later attempt has superseded it. */
  readonly isRetried: boolean
  readonly name: string | undefined
  readonly stage: string | undefined
  readonly status: string
  readonly failureReason: string | undefined
  readonly when: string | undefined
  readonly isManual: boolean | undefined
  readonly allowFailure: boolean
  readonly createdAtMs: number | undefined
  readonly startedAtMs: number | undefined
  readonly finishedAtMs: number | undefined
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  /** The number of earlier attempts, if the record says it. */
  readonly retriesCount?: number | undefined
  readonly user: RecordedUser | undefined
  readonly runner: RecordedRunner | undefined
  readonly artifacts: RecordedArtifacts | undefined
  readonly environment: RecordedEnvironment | undefined
  /** Only of a status that a program has posted. */
  readonly posted?: PostedDetails | undefined
}

/** The details that a program gives with the status that it posts. */
interface PostedDetails {
  readonly targetUrl?: string | undefined
  readonly description?: string | undefined
  readonly coverage?: number | undefined
}

/** A variable that was given to a pipeline when it was started. */
export interface RecordedVariable {
  readonly key: string
  readonly value: string
}

export interface RecordedRunner {
  readonly id: number | undefined
  readonly description: string | undefined
  readonly type: string | undefined
  readonly isActive: boolean | undefined
  readonly isShared: boolean | undefined
  readonly tags: readonly string[]
}

export interface RecordedArtifacts {
  readonly filename?: string | undefined
  /** Bytes. */
  readonly size?: number | undefined
}

interface RecordedEnvironment {
  readonly name?: string | undefined
  readonly action?: string | undefined
  readonly deploymentTier?: string | undefined
}

/** The content of one record. */
export type PipelineDraft = Omit<
  Pipeline,
  'key' | 'globalNumber' | 'projectId' | 'projectPath' | 'updatedAtMs' | 'stageOrder'
> & {
  /** Each job once, in the order of their ids. */
  readonly jobs: readonly Job[]
}

export interface RecordedJob extends Job {
  /** The number in its Global ID: the id, unless another project recorded that id earlier. */
  readonly globalNumber: number
}

export interface JobOfPipeline extends RecordedJob {
  readonly pipeline: Pipeline
}

export interface BridgeOfPipeline extends JobOfPipeline {
  /** The pipeline that it started, if it is recorded and the actor may see it. */
  readonly downstream: Pipeline | undefined
}

const inProject = { project: namespaceRef }
const word = z.string().max(1_024)

export const pipelineScopes = ['running', 'pending', 'finished', 'branches', 'tags'] as const
const pipelineOrders = ['id', 'status', 'ref', 'updated_at', 'user_id'] as const

const pipelineFilter = {
  scope: z.enum(pipelineScopes).optional(),
  status: z.enum(pipelineStatuses).optional(),
  ref: word.optional(),
  sha: word.optional(),
  source: word.optional(),
  username: word.optional(),
  name: word.optional(),
  yamlErrors: z.boolean().optional(),
  updatedAfter: instant.optional(),
  updatedBefore: instant.optional(),
  createdAfter: instant.optional(),
  createdBefore: instant.optional(),
  orderBy: z.enum(pipelineOrders).default('id'),
  sort: z.enum(['asc', 'desc']).default('desc'),
}
export type PipelineFilter = z.output<z.ZodObject<typeof pipelineFilter>>

const jobFilter = { scope: z.array(z.enum(pipelineStatuses)).max(pipelineStatuses.length).optional() }
export type JobFilter = z.output<z.ZodObject<typeof jobFilter>>

/** Parameters of lists that are always ordered newest first. */
export const pipelinesOfEachInput = z
  .object(pipelineFilter)
  .pick({
    scope: true,
    status: true,
    ref: true,
    sha: true,
    source: true,
    username: true,
    updatedAfter: true,
    updatedBefore: true,
  })
  .extend({ globalNumbers: z.array(z.int()).max(100).optional(), isTag: z.boolean().optional() })

const statuses = z.array(z.enum(pipelineStatuses)).max(pipelineStatuses.length).optional()
const kind = z.enum(['build', 'bridge']).optional()
export const jobsOfEachPipelineInput = z.object({
  statuses,
  kind,
  isRetried: z.boolean().optional(),
  whens: z.array(word).max(20).optional(),
})
export const jobsOfEachProjectInput = z.object({
  statuses,
  kind,
  name: word.optional(),
  pipelineIid: z.int().optional(),
  sources: z.array(word).max(50).optional(),
  hasArtifacts: z.boolean().optional(),
})
export const allJobsInput = z.object({ statuses, runnerTypes: z.array(word).max(10).optional() })

export const listPipelinesInput = z.object({ ...inProject, ...pipelineFilter, ...pageInput })
export const latestPipelineInput = z.object({ ...inProject, ref: word.optional() })
export const pipelineInput = z.object({ ...inProject, pipelineId: z.int() })
export const listPipelineJobsInput = z.object({
  ...pipelineInput.shape,
  ...jobFilter,
  includeRetried: z.boolean().default(false),
  ...pageInput,
})
export const listBridgesInput = listPipelineJobsInput
export const listProjectJobsInput = z.object({ ...inProject, ...jobFilter, ...pageInput, ...keysetInput })
export const pipelineMetadataInput = z.object({ ...pipelineInput.shape, name: z.string() })
export const jobInput = z.object({ ...inProject, jobId: z.int() })
export const pipelineExportInput = z.object({
  ...inProject,
  environment: z.string().max(255).optional(),
  refProtected: z.boolean().default(false),
})
