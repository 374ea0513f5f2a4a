import type { PipelineRecord } from './pipeline-record.ts'

/** A running job and its pipeline, as the variables of its environment describe them. */
export interface RunningJob {
  /** The pipeline as its hook will describe it after its end, with this job only. */
  readonly record: PipelineRecord
  /**
   * Returns the id of the root pipeline that the trigger job of the parent pipeline has passed on.
   *
   * @throws {JobVariablesError} if the variable has another content
   */
  readonly passedRoot: () => bigint | undefined
  /** Set if no variable has the name that the pipeline will have. */
  readonly isNameUnknown?: true | undefined
  /** The names of variables, for messages. */
  readonly variables: { readonly projectUrl: string; readonly source: string; readonly root: string }
}

/** The variables of the environment do not describe a job, or do not say which trace it belongs to. */
export class JobVariablesError extends Error {
  override readonly name = 'JobVariablesError'
}
