import type { HookApi } from '../api/hook-api.ts'
import type { ForgeApi } from '../api/rest-api.ts'
import type { Fields, JsonObject } from '../body/fields.ts'
import type { JobEvent } from '../record/job-event.ts'
import type { Payload } from '../record/payload.ts'
import type { PipelineDetails } from '../record/pipeline-details.ts'
import type { PipelineRecord } from '../record/pipeline-record.ts'
import type { OtherHookError } from '../record/record-error.ts'
import type { RunningJob } from '../record/running-job.ts'
import type { HookRules } from './hook-rules.ts'

/** Everything that is known about one forge. A forge is a folder beside this one with a value of this type, and a row in `forges.ts`. */
export interface Forge {
  /** Completes the sentence "The body must be …". */
  readonly expected: string
  readonly bodies: readonly ReadableBody[]
  readonly nearMisses: readonly NearMiss[]
  /** Returns why a list is no record, if it is a list that users mistake for one. */
  readonly listAdvice?: (list: readonly unknown[]) => string | undefined
  /** Returns the error for a hook about another event; `undefined` for other bodies. */
  readonly otherHook: (values: JsonObject) => OtherHookError | undefined
  readonly hooks: HookRules
  /** The members of bodies with the variables or parameters of a run. They may be secrets, so they are not stored. Default: `variables`. */
  readonly variableMembers?: readonly string[]
  /** Present if pipelines of the past can be listed. */
  readonly api?: ForgeApi
  /** Present if webhooks can be installed with the API. */
  readonly hookApi?: HookApi
  /**
   * Reads the variables of a running job's environment.
   *
   * @param jobId the id of the job, for forges without a variable for it; without it, the record has no job
   * @throws {JobVariablesError} if a variable is missing or invalid
   */
  readonly readRunningJob?: (variables: Readonly<Record<string, string | undefined>>, jobId?: string) => RunningJob
}

/** A form of body that is read. A body matches at most one form of all forges. */
export interface ReadableBody {
  readonly kind: string
  readonly matches: (values: JsonObject) => boolean
  /** Returns whether a body can be read if the user names the forge. Absent if that is the same as `matches`. */
  readonly fits?: (values: JsonObject) => boolean
  /**
   * Returns the object that is read and that paths in messages refer to; absent if it is the body itself.
   *
   * @throws {RecordError}
   */
  readonly unwrap?: (values: JsonObject) => JsonObject
  /** @throws {RecordError} if a required field is missing: id and status of the pipeline and of each job */
  readonly read: (fields: Fields, receivedAtNs: bigint | undefined) => BodyContent
  /** Returns the fields of a pipeline, for a report on what it lacks; absent for jobs. */
  readonly payload?: (values: JsonObject) => Payload
  /** Returns the facts about the pipeline that are not in the record; absent for bodies that are no hooks. */
  readonly details?: (fields: Fields) => PipelineDetails
}

export type BodyContent =
  | { readonly kind: 'pipeline'; readonly record: PipelineRecord }
  | { readonly kind: 'job'; readonly event: JobEvent }

/** A form of body that users mistake for a record. The advice repeats no text of the body. */
export interface NearMiss {
  readonly name: string
  readonly matches: (values: JsonObject) => boolean
  readonly advice: (values: JsonObject) => string
}
