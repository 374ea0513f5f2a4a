import type { RunId } from './run-id.ts'

/**
 * The fields of a payload, for a report on what it lacks. Fields are named as pipeline hooks name them, such as
 * `object_attributes.ref`; those of jobs begin with `builds[].`.
 */
export interface Payload {
  readonly kind: 'pipeline hook' | 'REST bundle' | 'record' | 'event'
  /** Returns the path of a field in the notation that is shown to users. */
  spelled(field: string): string
  /**
   * Returns the first empty field on the way to a field; `undefined` if the way leads to a value, or if the field is one of a
   * job and the payload has no job with this id.
   */
  emptyField(field: string, jobId?: RunId): EmptyField | undefined
}

/** The outermost empty field on a path, and in which way it is empty. The paths of jobs are relative to the job. */
export interface EmptyField {
  readonly path: string
  readonly is: 'missing' | 'null' | 'empty' | 'not part of the forge’s payloads'
}
