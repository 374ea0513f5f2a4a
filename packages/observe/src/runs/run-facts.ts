import type { RunKind } from './run-kind.ts'

/** The data of one pipeline run that statistics use. Times are seconds since 1970, durations are seconds. */
export interface RunData extends RunKind {
  readonly traceId: string
  /** The full path of the project; its name if the path is unknown. */
  readonly project: string | null
  readonly projectName: string | null
  readonly ref: string | null
  readonly sha: string | null
  /** The service's word: `success`, `failed`, `canceled`, `skipped`, `running` and others. */
  readonly status: string | null
  readonly isChild: boolean
  readonly start: number
  /** The end of the pipeline's span less its start. */
  readonly duration: number
  /** `null` if the pipeline did not wait or the time is unknown. */
  readonly queue: number | null
}

/** A run with its jobs. */
export interface RunFacts extends RunData {
  /** In the order of their start. */
  readonly jobs: readonly JobFacts[]
}

/** One attempt of a job. */
export interface JobFacts {
  readonly name: string
  readonly stage: string | null
  readonly status: string | null
  readonly start: number
  readonly duration: number
  /** The exclusive time on the critical path of the trace's root run; 0 if the job is not on it. */
  readonly critical: number
  readonly isBridge: boolean
  readonly runner: string | null
  readonly tags: readonly string[]
}

/** Returns whether a run has ended after it ran. A skipped run never ran, so its duration says nothing. */
export const hasFinished = ({ status }: RunData): boolean =>
  status === 'success' || status === 'failed' || status === 'canceled'

/** Returns failed ÷ (success + failed); `null` if there are neither. */
export const failureRate = (success: number, failed: number): number | null =>
  success + failed === 0 ? null : failed / (success + failed)

/** Compares texts for sorting; a missing one comes first. */
export const compareTexts = (a: string | null, b: string | null): number =>
  a === b ? 0 : a === null || (b !== null && a < b) ? -1 : 1
