/**
 * The converter's input: one pipeline run and its jobs, in our words, already normalised by an adapter of `sources/`.
 *
 * Everything unusable in the foreign payload is `undefined` here: null, blank text, unparsable dates, negative
 * durations, an all-zero `before_sha`. Times are BigInt nanoseconds since 1970 and never 0; durations are seconds.
 *
 * @see spec/pipeline-telemetry.md 1
 */
export interface PipelineRecord {
  /** Above 0. Instance-wide. */
  readonly id: bigint
  readonly iid: bigint | undefined
  readonly name: string | undefined
  /** Canonical lower-case status; aliases are resolved, unknown words kept. */
  readonly status: string
  readonly detailedStatus: string | undefined
  readonly ref: string | undefined
  readonly tag: boolean | undefined
  readonly sha: string | undefined
  readonly beforeSha: string | undefined
  /** What triggered it: push, schedule, merge_request_event, … (open set). */
  readonly source: string | undefined
  /** Declared stages in order, also those without jobs. */
  readonly stages: readonly string[]
  readonly createdAtNs: bigint | undefined
  /** REST only. */
  readonly startedAtNs: bigint | undefined
  /** REST only. */
  readonly updatedAtNs: bigint | undefined
  readonly finishedAtNs: bigint | undefined
  /** Busy time, not `finished - created`. */
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  readonly protectedRef: boolean | undefined
  /** Web URL of the pipeline, given or derived from the project's. */
  readonly url: string | undefined
  readonly failureReason: string | undefined
  /** How the ref's pipelines went: `fixed`, `still_failing`, … (open set). */
  readonly refStatusName?: string | undefined
  /** The messages of the parser if the configuration could not be read. */
  readonly yamlErrors?: string | undefined
  /** The coverage in percent. */
  readonly coverage?: number | undefined
  /** The root of the pipeline tree, when the source or the caller's root map knows it. */
  readonly rootPipelineId: bigint | undefined
  readonly upstream: UpstreamPipeline | undefined
  readonly mergeRequest: MergeRequestRecord | undefined
  readonly user: UserRecord | undefined
  readonly commit: CommitRecord | undefined
  readonly project: ProjectRecord
  /** Jobs and bridges, unique by id, every known attempt; sorted by creation time, then id. */
  readonly jobs: readonly JobRecord[]
  /** Set if the list of jobs is unreadable, so that their number is unknown. */
  readonly jobsUnreadable?: true | undefined
  /** Whether the source lists bridges at all; decides what a child pipeline may point at (section 2.5). */
  readonly bridgesListed: boolean
  /** When the record reached us. Set by the intake; without it the pipeline's end stands in. */
  readonly receivedAtNs: bigint | undefined
  /**
   * The instance that ids are hashed with instead of the option `instanceId` and the host of the project's URL. It is
   * set if another project of the same host has recorded a pipeline of the same id. Ids are then hashed even under
   * `idScheme: native`.
   */
  readonly instance?: string | undefined
  /** What an earlier completion of the same pipeline already exported; absent on the first one. */
  readonly previousExport?: PreviousExport
}

/** @see spec/pipeline-telemetry.md 2.6 */
export interface PreviousExport {
  readonly jobIds: ReadonlySet<bigint>
}

export interface ProjectRecord {
  readonly id: bigint | undefined
  readonly name: string | undefined
  /** Without trailing `/` or `.git`. */
  readonly webUrl: string | undefined
  /** `path_with_namespace`. */
  readonly path: string | undefined
}

/** The pipeline that started this one through a bridge job. */
export interface UpstreamPipeline {
  readonly pipelineId: bigint
  /** The root of its tree, when the caller's root map knows it. */
  readonly rootPipelineId?: bigint
  /** `bridge_id ?? job_id`: the bridge whose span is the parent or link target. */
  readonly bridgeId: bigint | undefined
  /** True when it lives in another project; its downstream has a trace of its own, unless `multiProject` joins them. */
  readonly otherProject: boolean
  readonly projectWebUrl: string | undefined
  readonly projectId?: bigint | undefined
  readonly projectPath?: string | undefined
  /** Whether the parent's record lists the bridge, if the caller knows that record; it decides under `bridgeSource: auto`. */
  readonly bridgeListed?: boolean | undefined
  /** The `instance` of the upstream pipeline's record. */
  readonly instance?: string | undefined
  /**
   * The caller's knowledge about the upstream pipeline, if it belongs to another project. `recorded`: that project has
   * recorded it. `expected`: that project has not, so its trace is not joined. `unknown`: there is no such project, so
   * nothing is linked to it. Without it, the record is believed.
   */
  readonly standing?: 'recorded' | 'expected' | 'unknown' | undefined
}

/** The pipeline that a bridge started; REST only. */
export interface DownstreamPipeline {
  readonly pipelineId: bigint
  readonly projectId: bigint | undefined
  /** The web URL of the downstream project. */
  readonly projectWebUrl: string | undefined
}

export interface MergeRequestRecord {
  readonly id: bigint | undefined
  readonly iid: bigint | undefined
  readonly title: string | undefined
  readonly state: string | undefined
  readonly draft: boolean
  readonly targetBranch: string | undefined
}

export interface UserRecord {
  readonly id: bigint | undefined
  readonly username: string | undefined
}

export interface CommitRecord {
  readonly id: string | undefined
  readonly title: string | undefined
  readonly message: string | undefined
}

/** One attempt of a job, or a bridge. */
export interface JobRecord {
  /** Above 0. */
  readonly id: bigint
  readonly bridge: boolean
  readonly name: string | undefined
  readonly stage: string | undefined
  readonly status: string
  readonly createdAtNs: bigint | undefined
  readonly startedAtNs: bigint | undefined
  readonly finishedAtNs: bigint | undefined
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  /** Only kept when the status is failed. */
  readonly failureReason: string | undefined
  readonly when: string | undefined
  readonly manual: boolean | undefined
  readonly allowFailure: boolean
  readonly url: string | undefined
  readonly user: UserRecord | undefined
  readonly runner: RunnerRecord | undefined
  readonly artifacts: ArtifactsRecord | undefined
  readonly environment: EnvironmentRecord | undefined
  /** The coverage in percent. */
  readonly coverage?: number | undefined
  /** Tags that a runner must have to take the job; REST only. */
  readonly requiredTags?: readonly string[] | undefined
  /** The pipeline that a bridge has started; undefined for other jobs. */
  readonly downstream?: DownstreamPipeline | undefined
  /** 1 for the first attempt, when the source tells (`retries_count`) or lists every attempt. */
  readonly attempt: number | undefined
  /** The attempt before this one, when it is among the record's jobs. */
  readonly previousAttemptId: bigint | undefined
  /** False for attempts that a later one of the same name and stage replaced; those do not count in totals. */
  readonly effective: boolean
}

export interface RunnerRecord {
  readonly id: bigint | undefined
  readonly description: string | undefined
  readonly tags: readonly string[]
  /** instance_type, group_type, project_type. */
  readonly type: string | undefined
  readonly active: boolean | undefined
  readonly isShared: boolean | undefined
}

export interface ArtifactsRecord {
  readonly filename: string | undefined
  /** Bytes; up to 2^63-1. */
  readonly size: bigint | undefined
}

export interface EnvironmentRecord {
  readonly name: string | undefined
  readonly action: string | undefined
  readonly deploymentTier: string | undefined
}
