import type { TestCase, TestEntry, TestReport, TestReportLimits } from './report.ts'
import { TestReportReader } from './test-report-reader.ts'

/** Reads a whole report. */
export function readText(text: string | Uint8Array, limits?: TestReportLimits): TestReport {
  const reader = new TestReportReader(limits)
  reader.write(typeof text === 'string' ? Buffer.from(text) : text)
  return reader.end()
}

export function* casesIn(entries: readonly TestEntry[]): Generator<TestCase> {
  for (const entry of entries) {
    if (entry.kind === 'case') yield entry
    else yield* casesIn(entry.entries)
  }
}

export const readCases = (text: string): TestCase[] => [...casesIn(readText(text).entries)]
