import type { RunId } from './run-id.ts'

/**
 * The converter's input: one pipeline run and its jobs, normalised by the reader of a forge.
 *
 * Every unusable value of the payload is `undefined` here: null, blank text, unparsable dates, negative durations, an
 * all-zero `before_sha`. Times are BigInt nanoseconds since 1970 and never 0; durations are seconds.
 */
export interface PipelineRecord {
  /** The name of the forge; absent in records of earlier versions, which are GitLab's. */
  readonly forge?: string | undefined
  /** Unique within the instance. The attempts of a run share it, unless `attemptHasOwnId` is set. */
  readonly id: RunId
  /** 1 for the first attempt; absent if the forge does not count the attempts of a run. Each attempt has its own trace. */
  readonly attempt?: number | undefined
  /** Set if each attempt has a run id of its own. Its number is then no part of derived ids, because hooks do not contain it. */
  readonly attemptHasOwnId?: true | undefined
  /** Set if the forge counts the attempts of jobs, but not those of the run, so that `attempt` is found by times. */
  readonly attemptsUncounted?: true | undefined
  /** The attempt before this one. */
  readonly previousAttempt?: PreviousAttempt | undefined
  readonly iid: bigint | undefined
  readonly name: string | undefined
  /** The canonical lower-case status. Aliases are resolved; unknown words are kept. */
  readonly status: string
  readonly detailedStatus: string | undefined
  readonly ref: string | undefined
  readonly tag: boolean | undefined
  readonly sha: string | undefined
  readonly beforeSha: string | undefined
  /** The trigger: `push`, `schedule`, `merge_request_event`, … (open set). */
  readonly source: string | undefined
  /** The declared stages in order, including stages without jobs. */
  readonly stages: readonly string[]
  readonly createdAtNs: bigint | undefined
  /** Known only from REST; hooks do not contain it. */
  readonly startedAtNs: bigint | undefined
  /** Known from REST, and from hooks of some versions. */
  readonly updatedAtNs: bigint | undefined
  readonly finishedAtNs: bigint | undefined
  /** Busy time, not `finished - created`. */
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  readonly protectedRef: boolean | undefined
  /** The web URL of the pipeline, given or derived from the project's URL. */
  readonly url: string | undefined
  readonly failureReason: string | undefined
  /** The status of the ref compared with the previous pipeline: `fixed`, `still_failing`, … (open set). */
  readonly refStatusName?: string | undefined
  /** The messages of the parser if the configuration could not be read. */
  readonly yamlErrors?: string | undefined
  /** The coverage in percent. */
  readonly coverage?: number | undefined
  /** The root of the pipeline tree, if the source or the caller's root map contains it. */
  readonly rootPipelineId: RunId | undefined
  readonly upstream: UpstreamPipeline | undefined
  readonly mergeRequest: MergeRequestRecord | undefined
  readonly user: UserRecord | undefined
  readonly commit: CommitRecord | undefined
  readonly project: ProjectRecord
  /** The parts that the payload does not name, so that options must: the server (`instanceId`), the repository (`project`). */
  readonly unnamed?: readonly UnnamedPart[] | undefined
  /** All known attempts of jobs and bridges, unique by id, sorted by creation time and then by `compareRunIds`. */
  readonly jobs: readonly JobRecord[]
  /** Set if the list of jobs is unreadable, so that their number is unknown. */
  readonly jobsUnreadable?: true | undefined
  /** Set if the source does not list jobs at all, so that their number is unknown. Job hooks may add jobs later. */
  readonly jobsUnknown?: true | undefined
  /**
   * Whether the source lists bridges. If not, the parent span of a child pipeline is the span of the parent pipeline
   * instead of the bridge's span.
   */
  readonly bridgesListed: boolean
  /** The time of receipt, set by the intake. Without it, the pipeline's end is used. */
  readonly receivedAtNs: bigint | undefined
  /**
   * The instance that ids are hashed with. It replaces the option `instanceId` and the host of the project's URL. It is
   * set if another project on the same host has recorded a pipeline with the same id. Ids are then hashed even under
   * `idScheme: native`.
   */
  readonly instance?: string | undefined
  /** The jobs that an earlier completion of the same pipeline already exported; absent on the first completion. */
  readonly previousExport?: PreviousExport
}

/** The jobs of an earlier completion. Their spans are not sent again. */
export interface PreviousExport {
  readonly jobIds: ReadonlySet<RunId>
  /** Whether the run itself is not sent again, neither its span nor its metrics: only jobs that arrived after its export. */
  readonly onlyJobs?: true
}

/** An earlier attempt of a run. Some forges give an attempt the id of its run and a number, others a run id of its own. */
export interface PreviousAttempt {
  readonly runId: RunId
  readonly attempt?: number | undefined
}

/** The option that names a part of a run which its payload does not name. */
export type UnnamedPart = 'instanceId' | 'project'

export interface ProjectRecord {
  readonly id: RunId | undefined
  readonly name: string | undefined
  /** Without trailing `/` or `.git`. */
  readonly webUrl: string | undefined
  /** `path_with_namespace`. */
  readonly path: string | undefined
  /**
   * The server that ids are unique on; absent if it is the host of the project's URL. Set for CI systems that build
   * repositories of other servers.
   */
  readonly server?: string | undefined
}

/** The pipeline that started this one through a bridge job. */
export interface UpstreamPipeline {
  readonly pipelineId: RunId
  /** The attempt of the upstream pipeline, if its forge counts them. */
  readonly attempt?: number | undefined
  /** The root of the upstream pipeline's tree, if the caller's root map contains it. */
  readonly rootPipelineId?: RunId
  /** `bridge_id ?? job_id`: the bridge with the span that is the parent or link target. */
  readonly bridgeId: RunId | undefined
  /**
   * True if the upstream pipeline belongs to another project. The downstream pipeline then has its own trace, unless
   * `multiProject` joins the two.
   */
  readonly otherProject: boolean
  readonly projectWebUrl: string | undefined
  readonly projectId?: RunId | undefined
  readonly projectPath?: string | undefined
  /**
   * Whether the parent's record lists the bridge; absent if the caller does not have that record. Under `bridgeSource: auto`,
   * false means that the bridge has no span.
   */
  readonly bridgeListed?: boolean | undefined
  /** The `instance` of the upstream pipeline's record. */
  readonly instance?: string | undefined
  /**
   * The caller's knowledge about an upstream pipeline of another project. `recorded`: that project has recorded the
   * pipeline. `expected`: that project has not recorded it yet, so its trace is not joined. `unknown`: there is no such
   * project, so there is no link. Without this field, the converter relies on the record.
   */
  readonly standing?: 'recorded' | 'expected' | 'unknown' | undefined
}

/** The pipeline that a bridge started; known only from REST. */
export interface DownstreamPipeline {
  readonly pipelineId: RunId
  readonly projectId: RunId | undefined
  /** The web URL of the downstream project. */
  readonly projectWebUrl: string | undefined
}

export interface MergeRequestRecord {
  readonly id: RunId | undefined
  readonly iid: bigint | undefined
  readonly title: string | undefined
  readonly state: string | undefined
  readonly draft: boolean
  readonly targetBranch: string | undefined
}

export interface UserRecord {
  readonly id: RunId | undefined
  readonly username: string | undefined
}

export interface CommitRecord {
  readonly id: string | undefined
  readonly title: string | undefined
  readonly message: string | undefined
}

/** One attempt of a job, or a bridge. */
export interface JobRecord {
  readonly id: RunId
  readonly bridge: boolean
  readonly name: string | undefined
  readonly stage: string | undefined
  readonly status: string
  readonly createdAtNs: bigint | undefined
  readonly startedAtNs: bigint | undefined
  readonly finishedAtNs: bigint | undefined
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  /** Set only if the status is `failed`. */
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
  /** Tags that a runner must have to take the job; known only from REST. */
  readonly requiredTags?: readonly string[] | undefined
  /** The pipeline that a bridge has started; undefined for other jobs. */
  readonly downstream?: DownstreamPipeline | undefined
  /** 1 for the first attempt. It is known if the source contains `retries_count` or lists every attempt. */
  readonly attempt: number | undefined
  /** The attempt before this one, if it is among the record's jobs. */
  readonly previousAttemptId: RunId | undefined
  /** False for an attempt that a later one of the same name and stage has replaced. Totals do not count it. */
  readonly effective: boolean
  /** The group that the forge shows the job in; absent if only the name of the job contains it. */
  readonly group?: { readonly name: string; readonly index: number | undefined } | undefined
  /** The steps of the job in their order; absent if the source does not list them. */
  readonly steps?: readonly StepRecord[] | undefined
  /** The failure in the log of the job; absent if the log was not read, or the job did not fail. */
  readonly failure?: JobFailure | undefined
}

/** The failing lines of a job's log, without secrets and escape sequences. */
export interface JobFailure {
  /** The lines, separated by line feeds, at most 16 KiB of UTF-8. */
  readonly lines: string
  /** 16 hex digits, the same for the same failure in different runs. */
  readonly fingerprint: string
}

/** A step of a job. Its number is its position in the list, from 1. */
export interface StepRecord {
  readonly name: string | undefined
  /** The canonical status, as that of a job. Unknown words are kept. */
  readonly status: string
  readonly startedAtNs: bigint | undefined
  readonly finishedAtNs: bigint | undefined
  /** Set for a section of the job's log. */
  readonly section?: SectionRecord | undefined
}

/** The fields of a section in a job's log. Its times are whole seconds, so it may seem to begin before its job. */
export interface SectionRecord {
  /** The text after the marker of the start. */
  readonly title: string | undefined
  /** The number of the step that contains this one; it is lower than the number of this one. */
  readonly parent: number | undefined
}

export interface RunnerRecord {
  readonly id: RunId | undefined
  /** The name that the forge shows, if the runner has a name and a description. */
  readonly name?: string | undefined
  /** The group or pool of the runner. */
  readonly group?: string | undefined
  /** The web URL of the runner. */
  readonly url?: string | undefined
  readonly description: string | undefined
  readonly tags: readonly string[]
  /** `instance_type`, `group_type` or `project_type`. */
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
  /** The deployment that the job makes, if the forge has an object for it. */
  readonly deployment?: DeploymentRecord | undefined
}

export interface DeploymentRecord {
  readonly id: RunId | undefined
  readonly name: string | undefined
}
