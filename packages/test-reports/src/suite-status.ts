import type { TestEntry, TestSuite } from './report.ts'

export type SuiteStatus = 'success' | 'failure' | 'skipped'

/** Returns the status of a suite from its cases, those of suites below it included. Only the last attempt of a case is considered. */
export function suiteStatus({ entries }: TestSuite): SuiteStatus {
  const statuses = new Set(entries.map(entryStatus))
  statuses.delete(undefined)
  if (statuses.has('failure')) return 'failure'
  return statuses.has('skipped') && statuses.size === 1 ? 'skipped' : 'success'
}

function entryStatus(entry: TestEntry): SuiteStatus | undefined {
  if (entry.kind === 'suite') return suiteStatus(entry)
  if (entry.isRepeated) return undefined
  if (entry.result === 'skipped') return 'skipped'
  return entry.result === 'passed' ? 'success' : 'failure'
}
