import { isComplete } from './pipeline-status.ts'

/** As much of a record as says whether it is newer than another of the same pipeline. */
export interface RecordVersion {
  readonly status: string
  /** Of a complete one when it finished, else the latest time it tells of; `undefined`: it tells of none. */
  readonly asOfMs: number | undefined
  /** Equal for records that tell the same. */
  readonly digest: string
}

/**
 * Whether a record that arrives replaces the one that is there. Records arrive in any order and more than once: what is
 * complete stays so until a later completion, and among those that are not, the latest that it tells of counts, or else
 * what arrived last.
 *
 * @see design.md 6; spec/pipeline-telemetry.md 2.6
 */
export function isNewer(former: RecordVersion, next: RecordVersion): boolean {
  if (former.digest === next.digest) return false
  if (isComplete(former.status) !== isComplete(next.status)) return isComplete(next.status)
  const [before, after] = [former.asOfMs ?? 0, next.asOfMs ?? 0]
  return isComplete(next.status) ? after > before : after >= before
}
