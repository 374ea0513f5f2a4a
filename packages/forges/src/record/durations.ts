import { MAX_SECONDS } from './limits.ts'

const NS_PER_SECOND = 1e9

/** Returns the seconds between two times; `undefined` if one is unknown, or the second is before the first. */
export function secondsBetween(startNs: bigint | undefined, endNs: bigint | undefined): number | undefined {
  if (startNs === undefined || endNs === undefined || endNs < startNs) return undefined
  const seconds = Number(endNs - startNs) / NS_PER_SECOND
  return seconds <= MAX_SECONDS ? seconds : undefined
}
