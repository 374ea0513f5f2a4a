import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import process from 'node:process'
import {
  defaultTestReportLimits,
  type TestReport,
  TestReportError,
  TestReportReader,
  type WrittenReport,
} from '@penstock/test-reports'
import type { Environment } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'
import { formatCount, printable } from '../text/wording.ts'

/** The number of cases of one command, in all its reports. */
const MAX_CASES = defaultTestReportLimits.maxCases

export interface NamedReport extends WrittenReport {
  /** The path of the report from the current directory, with `/` between its parts; `-` for standard input. */
  readonly reportName: string
}

export interface ReadReports {
  readonly reports: readonly NamedReport[]
  /** Whether every file was read. */
  readonly complete: boolean
}

/** Reads the reports, each file once. A refused file is named on standard error, and the others are still read. */
export async function readReports(files: readonly string[], environment: Environment): Promise<ReadReports> {
  const reports: NamedReport[] = []
  let complete = true
  let cases = 0
  for (const [reportName, file] of new Map(files.map((file) => [nameOf(file), file]))) {
    try {
      const reader = await readReport(file, environment)
      cases += reader.cases
      if (cases > MAX_CASES) throw tooManyCases
      reports.push({ ...reader, reportName })
    } catch (error) {
      const reason = refusalReason(error)
      if (reason === undefined) throw error
      complete = false
      environment.stderr.write(`${printable(`penstock: ${file}: ${reason}`)}\n`)
      if (error === tooManyCases) break
    }
    if (environment.signal.aborted) break
  }
  return { reports, complete }
}

const tooManyCases = new TestReportError(
  `the reports have more than ${formatCount(MAX_CASES)} cases together; send the rest with another command`,
)

async function readReport(file: string, environment: Environment) {
  const { stdin, clock, signal } = environment
  const writtenNs = file === '-' ? clock.nowNs() : (await stat(file, { bigint: true })).mtimeNs
  const reader = new TestReportReader()
  for await (const bytes of file === '-' ? stdin : createReadStream(file, { signal })) reader.write(bytes as Buffer)
  const report: TestReport = reader.end()
  return { report, writtenNs, cases: reader.cases }
}

/** Returns the reason why a file is refused; `undefined` for other errors. */
function refusalReason(error: unknown): string | undefined {
  if (error instanceof TestReportError) return error.message
  return isSystemError(error) ? `cannot be read: ${systemReason(error)}` : undefined
}

const nameOf = (file: string): string =>
  file === '-' ? file : relative(process.cwd(), resolve(file)).split(sep).join('/')
