import type {
  EnvironmentRecord,
  JobRecord,
  ProjectRecord,
  RunnerRecord,
  UpstreamPipeline,
  UserRecord,
} from './pipeline-record.ts'
import type { RunId } from './run-id.ts'

/**
 * The contents of a job hook. It completes the record of its pipeline with what the pipeline hook lacks: attempts that
 * were retried, the number of retries, the runner. It names the upstream pipeline before the pipeline has finished. It
 * triggers no export, unless it has a `job` of a run that has been exported: that job is then sent alone.
 */
export interface JobEvent {
  /** The name of the forge; absent in events of earlier versions, which are GitLab's. */
  readonly forge?: string | undefined
  readonly pipelineId: RunId
  /** The attempt of the run that the job belongs to; absent if the forge does not count them. */
  readonly runAttempt?: number | undefined
  /** Set if the forge may count the attempts of jobs only, so that `runAttempt` can be too low. */
  readonly attemptsUncounted?: true | undefined
  /** The whole job, set for forges with run hooks that list no jobs. It is then a job of the record. */
  readonly job?: JobRecord | undefined
  readonly rootPipelineId: RunId | undefined
  readonly upstream: UpstreamPipeline | undefined
  readonly project: ProjectRecord
  readonly jobId: RunId
  readonly name: string | undefined
  readonly stage: string | undefined
  readonly status: string
  readonly createdAtNs: bigint | undefined
  readonly startedAtNs: bigint | undefined
  readonly finishedAtNs: bigint | undefined
  /** Set only for finished jobs: hooks of running jobs contain the time that has passed so far. */
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  readonly allowFailure: boolean
  readonly user: UserRecord | undefined
  /** Set only if the status is `failed`: on success, hooks contain `unknown_failure`. */
  readonly failureReason: string | undefined
  readonly retriesCount: number | undefined
  readonly runner: RunnerRecord | undefined
  readonly environment: EnvironmentRecord | undefined
  readonly receivedAtNs: bigint | undefined
}
