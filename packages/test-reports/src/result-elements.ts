import type { TestResult } from './report.ts'

export interface ResultElement {
  readonly result: TestResult
  /**
   * The attempt that the element describes: `this` is the one of the row; `earlier` and `later` are attempts of their own, before
   * and after it.
   */
  readonly attempt: 'this' | 'earlier' | 'later'
}

/** The elements of a case that say how it ended. A case without any of them has passed. */
export const resultElements: ReadonlyMap<string, ResultElement> = new Map([
  ['failure', { result: 'failed', attempt: 'this' }],
  ['error', { result: 'error', attempt: 'this' }],
  ['skipped', { result: 'skipped', attempt: 'this' }],
  ['flakyFailure', { result: 'failed', attempt: 'earlier' }],
  ['flakyError', { result: 'error', attempt: 'earlier' }],
  ['rerunFailure', { result: 'failed', attempt: 'later' }],
  ['rerunError', { result: 'error', attempt: 'later' }],
])

/** The order in which results decide that of a row with several elements. */
export const resultOrder: readonly TestResult[] = ['passed', 'skipped', 'failed', 'error']

/** Values of the attributes `status` and `result` of a case that was not run, as GoogleTest writes them. */
export const notRun: ReadonlySet<string | undefined> = new Set(['notrun', 'disabled', 'suppressed', 'skipped'])
