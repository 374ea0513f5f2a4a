import type { TestEntry, TestReport, TestSuite } from './report.ts'

/** The last time that OTLP can have in a signed field, in 2262. Later ends become this one, so that no sum of durations exceeds it. */
const LATEST_NS = 2n ** 63n - 1n

export interface Times {
  readonly startNs: bigint
  readonly endNs: bigint
}

/**
 * Returns the times of all suites and cases. A suite starts at its timestamp; cases, and suites without a timestamp, start when
 * the entry before them ends. If the first suite has no timestamp, the report ends at `writtenNs`.
 */
export function schedule(report: TestReport, writtenNs: bigint): ReadonlyMap<TestEntry, Times> {
  const times = new Map<TestEntry, Times>()
  const [first] = report.entries
  const hasStart = first?.kind === 'suite' && first.startNs !== undefined
  placeEntries(
    report.entries,
    hasStart ? bounded(first.startNs!) : latest(0n, writtenNs - lengthOf(report.entries)),
    times,
  )
  return times
}

/** Places entries one after the other and returns the end of the last one. */
function placeEntries(entries: readonly TestEntry[], startNs: bigint, times: Map<TestEntry, Times>): bigint {
  let nextNs = startNs
  let endNs = startNs
  for (const entry of entries) {
    const placed = entry.kind === 'suite' ? placeSuite(entry, nextNs, times) : caseTimes(entry.durationNs, nextNs)
    times.set(entry, placed)
    nextNs = placed.endNs
    endNs = latest(endNs, placed.endNs)
  }
  return endNs
}

function placeSuite(suite: TestSuite, nextNs: bigint, times: Map<TestEntry, Times>): Times {
  const startNs = bounded(suite.startNs ?? nextNs)
  const lastNs = placeEntries(suite.entries, startNs, times)
  return { startNs, endNs: latest(bounded(startNs + suite.durationNs), lastNs) }
}

const caseTimes = (durationNs: bigint, startNs: bigint): Times => ({ startNs, endNs: bounded(startNs + durationNs) })

/** Returns the time from the start of the first entry to the end of the last one, if none has a timestamp. */
function lengthOf(entries: readonly TestEntry[]): bigint {
  let sum = 0n
  for (const entry of entries) {
    sum += entry.kind === 'suite' ? latest(entry.durationNs, lengthOf(entry.entries)) : entry.durationNs
  }
  return sum
}

const latest = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const bounded = (timeNs: bigint): bigint => (timeNs > LATEST_NS ? LATEST_NS : timeNs)
