import type { RunId } from './run-id.ts'

/**
 * The facts about a pipeline that a hook contains besides its record. It is never exported, because it names people and its variables may be
 * secrets.
 */
export interface PipelineDetails {
  readonly userName: string | undefined
  readonly authorName: string | undefined
  readonly committedAtNs: bigint | undefined
  /** All zeros if there is no previous commit. */
  readonly beforeSha: string | undefined
  readonly startedAtNs: bigint | undefined
  /** The web URL of the pipeline as given; the record has a derived one if it is missing. */
  readonly url: string | undefined
  readonly mergeRequest: MergeRequestDetails | undefined
  readonly variables: readonly PipelineVariable[]
  readonly jobs: ReadonlyMap<RunId, JobDetails>
}

/** A merge request as given; the record completes it from its ref and its title. */
export interface MergeRequestDetails {
  readonly id: bigint | undefined
  readonly iid: bigint | undefined
  readonly title: string | undefined
  readonly sourceBranch: string | undefined
  readonly sourceProjectId: bigint | undefined
  readonly targetBranch: string | undefined
  readonly targetProjectId: bigint | undefined
  readonly state: string | undefined
  readonly mergeStatus: string | undefined
  readonly detailedMergeStatus: string | undefined
  readonly draft: boolean | undefined
  readonly workInProgress: boolean | undefined
  readonly url: string | undefined
}

export interface PipelineVariable {
  readonly key: string
  readonly value: string
}

export interface JobDetails {
  readonly userName: string | undefined
  /** The number of earlier attempts. */
  readonly retriesCount: number | undefined
}
