import { getJson } from './client.ts'
import type { PipelineRun, RefKind } from './pipelines.ts'

export type JobChange = 'slower' | 'faster' | 'new' | 'gone' | 'failed' | 'fixed' | 'same'

/** A job of two runs. Durations are seconds; null if the job did not run. */
export interface JobDifference {
  readonly name: string
  readonly stage: string | null
  readonly a_seconds: number | null
  readonly b_seconds: number | null
  readonly delta_seconds: number | null
  readonly a_status: string | null
  readonly b_status: string | null
  readonly change: JobChange
}

/** The median of the last successful runs of the kind of `a` that started before it. */
export interface MedianRun {
  readonly kind: 'median'
  readonly service: string
  readonly project: string | null
  readonly ref: string | null
  readonly ref_kind: RefKind | null
  readonly name: string | null
  readonly trigger: string | null
  readonly trace_ids: readonly string[]
  readonly runs: number
  readonly duration_seconds: number | null
  readonly queue_seconds: number | null
}

export interface Comparison {
  readonly a: PipelineRun
  readonly b: PipelineRun | MedianRun
  /** The side that changes are counted from. */
  readonly base: 'a' | 'b'
  readonly jobs: readonly JobDifference[]
}

/** Compares two runs by their traces; `b` may be `median`. */
export function getComparison(a: string, b: string, signal?: AbortSignal): Promise<Comparison> {
  return getJson<Comparison>('/api/v1/observe/compare', { a, b }, signal)
}
