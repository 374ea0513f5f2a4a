import type { PipelineRecord } from './pipeline-record.ts'
import type { RunId } from './run-id.ts'

/** A running job and its pipeline, as the variables of its environment describe them. */
export interface RunningJob {
  /** The pipeline as its hook will describe it after its end, with this job only; without jobs if the job's id is unknown. */
  readonly record: PipelineRecord
  /** The id of the root pipeline, as the pipeline that started this one has passed it on. */
  readonly passedRoot?: string | undefined
  /**
   * Returns the id of a pipeline that is written as a text.
   *
   * @param name the name of the setting or variable, for messages
   * @throws {JobVariablesError} if the forge has no such ids
   */
  readonly parseRunId: (name: string, text: string) => RunId
  /** Set if no variable says whether another pipeline has started this one. It has if the job names its root, or was given one. */
  readonly isUpstreamUnknown?: true | undefined
  /** Set if no variable has the name that the pipeline will have. */
  readonly isNameUnknown?: true | undefined
  /** The names of variables, for messages. */
  readonly variables: {
    readonly projectUrl: string
    readonly source?: string | undefined
    readonly root?: string | undefined
  }
}

/** The variables of the environment do not describe a job, or do not say which trace it belongs to. */
export class JobVariablesError extends Error {
  override readonly name = 'JobVariablesError'
}
