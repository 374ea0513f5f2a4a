/** The content of a test report. Times are nanoseconds; a field that the report does not have is `undefined`. */
export interface TestReport {
  /** The suites and cases below the root element, in their order. */
  readonly entries: readonly TestEntry[]
}

export type TestEntry = TestSuite | TestCase

export interface TestSuite {
  readonly kind: 'suite'
  readonly name: string
  /** Nanoseconds since 1970. */
  readonly startNs: bigint | undefined
  readonly durationNs: bigint
  readonly entries: readonly TestEntry[]
}

/** One attempt of a test case. A case that was run again is several of these, with the same names. */
export interface TestCase {
  readonly kind: 'case'
  readonly name: string
  readonly className: string | undefined
  /** The file that the report names for the case or its suite. */
  readonly namedFile: string | undefined
  /** The file that the report names, else that of the first stack frame of the failure outside dependencies. */
  readonly file: string | undefined
  /** Counted from 1. */
  readonly line: number | undefined
  readonly durationNs: bigint
  readonly result: TestResult
  /** Counted from 1. */
  readonly attempt: number
  /** Whether a later attempt of the same case exists. Only the last attempt decides the result of a suite. */
  readonly isRepeated: boolean
  readonly failures: readonly TestFailure[]
  /** The number of failures beyond the limit. */
  readonly droppedFailures: number
}

export type TestResult = 'passed' | 'failed' | 'error' | 'skipped'

export interface TestFailure {
  readonly type: string | undefined
  readonly message: string | undefined
  readonly stacktrace: string | undefined
}

/** The limits of one report. Texts beyond their limit are cut; everything else is refused with a `TestReportError`. */
export interface TestReportLimits {
  readonly maxBytes: number
  /** The number of attempts of cases. */
  readonly maxCases: number
  readonly maxSuites: number
  readonly maxDepth: number
  readonly maxAttributes: number
}

export const defaultTestReportLimits: TestReportLimits = {
  maxBytes: 32 * 1024 * 1024,
  maxCases: 200_000,
  maxSuites: 50_000,
  maxDepth: 64,
  maxAttributes: 100,
}

/** The maximum length of an attribute, a name or a DOCTYPE, in UTF-16 code units. A longer one is refused. */
export const MAX_TOKEN_LENGTH = 1024 * 1024
/** The maximum number of UTF-8 bytes of a stack trace. */
export const MAX_STACKTRACE_BYTES = 16_384
/** The maximum number of failures of one attempt that become events. */
export const MAX_FAILURES = 8

/** The error for text that is not a test report or exceeds a limit. The message is one line and says where, if that is known. */
export class TestReportError extends Error {
  override readonly name = 'TestReportError'
}
