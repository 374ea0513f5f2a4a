import { isComplete } from './pipeline-status.ts'

/** The data that decides which of two records of a pipeline is newer. */
export interface RecordVersion {
  readonly status: string
  /** The end of a complete pipeline, else the latest time in the record; `undefined` if it contains no time. */
  readonly asOfMs: number | undefined
  /** Equal for records with the same content. */
  readonly digest: string
}

/**
 * Returns whether an arriving record replaces the stored one. Records arrive in any order and more than once. A
 * complete pipeline is replaced only by a later completion. Between incomplete records the later `asOfMs` wins, and
 * between equal times the one that arrived last.
 */
export function isNewer(former: RecordVersion, next: RecordVersion): boolean {
  if (former.digest === next.digest) return false
  if (isComplete(former.status) !== isComplete(next.status)) return isComplete(next.status)
  const [before, after] = [former.asOfMs ?? 0, next.asOfMs ?? 0]
  return isComplete(next.status) ? after > before : after >= before
}
