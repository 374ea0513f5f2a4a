import { z } from 'zod'
import { keysetInput, pageInput } from '../kit/page.ts'
import { instant, namespaceRef } from '../kit/parameter-schemas.ts'
import { pipelineStatuses } from './pipeline-status.ts'

/** A run of CI, as the last record that brought news tells of it. What a record leaves out is `undefined`. */
export interface Pipeline {
  /** Ours. */
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
  /** In words: `passed with warnings`. */
  readonly detailedStatus: string | undefined
  readonly source: string | undefined
  readonly ref: string | undefined
  readonly isTag: boolean | undefined
  readonly sha: string | undefined
  readonly beforeSha: string | undefined
  readonly user: RecordedUser | undefined
  readonly commit: RecordedCommit | undefined
  readonly upstream: Upstream | undefined
  readonly createdAtMs: number | undefined
  /** When the first of its jobs did, if the record says nothing. */
  readonly startedAtMs: number | undefined
  readonly finishedAtMs: number | undefined
  /** When a record last changed it. */
  readonly updatedAtMs: number
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  /**
   * The names of all stages that the pipeline has ever had, in the order of their ids; `undefined` if that is the order
   * of its jobs.
   */
  readonly stageOrder: readonly string[] | undefined
}

/** As the forge knows them, which may be another. */
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
}

/** One attempt of a job, or a bridge. */
export interface Job {
  /** The id from the record; unique within its project. */
  readonly id: number
  readonly isBridge: boolean
  /** A later attempt has replaced it. */
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
  readonly user: RecordedUser | undefined
  readonly runner: RecordedRunner | undefined
  readonly artifacts: RecordedArtifacts | undefined
  readonly environment: RecordedEnvironment | undefined
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

export interface RecordedEnvironment {
  readonly name?: string | undefined
  readonly action?: string | undefined
  readonly deploymentTier?: string | undefined
}

/** What one record tells. */
export type PipelineDraft = Omit<
  Pipeline,
  'key' | 'globalNumber' | 'projectId' | 'projectPath' | 'updatedAtMs' | 'stageOrder'
> & {
  /** In the order of their ids, each once. */
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
  /** What it has started, as far as that is known here and the actor may see it. */
  readonly downstream: Pipeline | undefined
}

const inProject = { project: namespaceRef }
const word = z.string().max(1_024)

export const pipelineScopes = ['running', 'pending', 'finished', 'branches', 'tags'] as const
export const pipelineOrders = ['id', 'status', 'ref', 'updated_at', 'user_id'] as const

const pipelineFilter = {
  scope: z.enum(pipelineScopes).optional(),
  status: z.enum(pipelineStatuses).optional(),
  ref: word.optional(),
  sha: word.optional(),
  source: word.optional(),
  username: word.optional(),
  name: word.optional(),
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

/** Of lists that are always newest first. */
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
export type PipelinesOfEach = z.output<typeof pipelinesOfEachInput>

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
export const listBridgesInput = z.object({ ...pipelineInput.shape, ...jobFilter, ...pageInput })
export const listProjectJobsInput = z.object({ ...inProject, ...jobFilter, ...pageInput, ...keysetInput })
export const jobInput = z.object({ ...inProject, jobId: z.int() })
export const pipelineExportInput = z.object({
  ...inProject,
  environment: z.string().max(255).optional(),
  refProtected: z.boolean().default(false),
})
