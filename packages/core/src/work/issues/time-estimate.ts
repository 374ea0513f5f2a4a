import { invalid } from '../../base/kit/domain-error.ts'
import type { Tx } from '../../base/operations/context.ts'
import { durationSeconds, ESTIMATE_INVALID } from './duration.ts'
import type { Issuable } from './issuable.ts'
import type { IssuableTables } from './issuable-tables.ts'
import { setTimeEstimate } from './time-log-store.ts'

/** Returns the seconds of an estimate; an empty text is 0. @throws DomainError `invalid` */
export function estimateSeconds(text: string): number {
  const seconds = text === '' ? 0 : durationSeconds(text)
  if (seconds === undefined || seconds < 0) throw invalid({ timeEstimate: [ESTIMATE_INVALID] })
  return seconds
}

/** Stores the estimate, if one is given, and returns whether it has changed. */
export async function changeEstimate(
  tx: Tx,
  tables: IssuableTables,
  { id, timeEstimateSeconds }: Issuable,
  text: string | undefined,
): Promise<boolean> {
  if (text === undefined) return false
  const seconds = estimateSeconds(text)
  if (seconds === timeEstimateSeconds) return false
  await setTimeEstimate(tx, tables, id, seconds)
  return true
}
