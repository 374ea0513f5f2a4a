import type { ConvertOptions, Tally } from '@penstock/converter'
import {
  type ForgeName,
  type JobLog,
  OtherHookError,
  type PipelineRecord,
  RecordError,
  withJobLogs,
} from '@penstock/forges'
import { rereadableInput } from '../input/buffered-input.ts'
import { findInputFiles, type InputFile } from '../input/input-files.ts'
import { type JobLogFile, readJobLogs } from '../input/job-logs.ts'
import { type Outstanding, type Place, type Reading, readBodies } from '../input/record-stream.ts'
import type { Environment } from '../process/environment.ts'
import { counted, formatCount } from '../text/wording.ts'
import { type Admission, type Admitted, Intake } from './intake.ts'
import { Progress } from './progress.ts'
import { Report } from './report.ts'
import { RestJobGroups } from './rest-job-groups.ts'

/** A source of records. */
export interface RecordSource {
  /** The name in messages. */
  readonly name: string
  /** Yields the readings in order. An error of the source itself is one of them, with the kind `fault`. */
  readings(progress: Progress): AsyncIterable<Reading>
  /** Whether `readings` may be called a second time, for two passes. */
  readonly rereadable?: boolean
  /** A note about the input for the user, printed if it has several records. */
  readonly note?: string
}

interface RunSettings {
  readonly options: ConvertOptions
  readonly receivedAtNs: bigint | undefined
  /** The forge of all records; absent to recognise it by each record. */
  readonly forge?: ForgeName | undefined
  /** The activity shown in the progress, such as `converting`. */
  readonly activity: string
  /** Whether standard output goes to the same terminal, where a bar would get in its way. */
  readonly printsToTerminal: boolean
  /** The length limit of one document, and of the REST jobs that are held until their pipeline is complete. */
  readonly maxDocumentBytes: number
}

interface FileRunSettings extends RunSettings {
  /** Files, directories or `-`. */
  readonly inputs: readonly string[]
  /** The logs of jobs, which add to the records of their pipelines. */
  readonly jobLogs: readonly JobLogFile[]
  /** Whether streams are held in memory until their end, so that they can be read in two passes like files. */
  readonly holdsStreams: boolean
  /** Ends the reading in the same way as an interruption. */
  readonly stop?: AbortSignal
}

/** A record to export, and its place in the input. */
export interface PlacedRecord extends Admitted {
  readonly place: Place
  readonly outstanding: Outstanding | undefined
}

/**
 * Reads all inputs and does the work that all commands share.
 *
 * Files are read twice, so that the order of records does not matter: the first pass collects the links between
 * pipelines, the second pass yields the records.
 */
export class RecordRun {
  readonly report: Report
  readonly progress: Progress
  readonly #sources: readonly RecordSource[]
  readonly #intake: Intake
  readonly #jobGroups: RestJobGroups
  readonly #surveyProgress: Progress
  readonly #jobLogs: ReadonlyMap<string, JobLog>
  readonly #unusedJobLogs: Set<string>

  /** @throws {UsageError} for inputs that cannot be read */
  static async open(settings: FileRunSettings, environment: Environment): Promise<RecordRun> {
    const { inputs, stop } = settings
    const signal = stop === undefined ? environment.signal : AbortSignal.any([environment.signal, stop])
    const found = await findInputFiles(inputs, environment, signal)
    const { maxDocumentBytes, holdsStreams } = settings
    const files: InputFile[] = []
    for (const file of found) files.push(holdsStreams ? await rereadableInput(file, maxDocumentBytes) : file)
    const sources = files.map((file) => ({
      ...fileSource(file, maxDocumentBytes),
      ...(!file.rereadable && holdsStreams && { note: onePassNote(maxDocumentBytes) }),
    }))
    const jobLogs = await readJobLogs(settings.jobLogs, signal)
    return new RecordRun(settings, environment, sources, { bytes: totalBytes(files), jobLogs })
  }

  /** `bytes` is the total length of all sources, if it is known; `jobLogs` are the logs of jobs by their ids. */
  constructor(
    settings: RunSettings,
    environment: Environment,
    sources: readonly RecordSource[],
    {
      bytes,
      jobLogs = new Map(),
    }: { readonly bytes?: number | undefined; readonly jobLogs?: ReadonlyMap<string, JobLog> } = {},
  ) {
    const { stderr, clock } = environment
    const terminal = stderr.isTTY === true
    this.#sources = sources
    this.#jobLogs = jobLogs
    this.#unusedJobLogs = new Set(jobLogs.keys())
    this.#jobGroups = new RestJobGroups(settings.maxDocumentBytes)
    this.#intake = new Intake(settings.options, settings, () => clock.nowNs())
    const mode = terminal ? (settings.printsToTerminal ? 'none' : 'bar') : 'lines'
    const progressOf = (activity: string) => new Progress({ stderr, clock, activity, totalBytes: bytes, mode })
    this.#surveyProgress = progressOf('first pass')
    this.progress = progressOf(settings.activity)
    this.report = new Report((line) => this.progress.print(line))
  }

  /** Yields the records to export in order. The others are added to the report. */
  async *records(): AsyncGenerator<PlacedRecord> {
    await this.#survey()
    for (const [index, source] of this.#sources.entries()) {
      let bodies = 0
      for await (const reading of this.#jobGroups.read(source.readings(this.progress), index)) {
        bodies += 1
        const { place } = reading
        if (reading.kind === 'fault') {
          this.report.refuse(place, reading.error)
        } else {
          const { body, outstanding } = reading
          const admission = this.refusing(place, () => this.#intake.admit(body))
          if (admission !== undefined && this.#isAdmitted(place, admission)) {
            yield { ...admission, record: this.#withJobLogs(place, admission.record), place, outstanding }
          }
        }
        this.progress.addRecord()
      }
      this.report.endFile(source.name)
      if (source.note !== undefined && bodies > 1) this.progress.print(`${source.name}: ${source.note}`)
    }
    this.report.refuseJobLogs(this.#unusedJobLogs)
  }

  /** Returns the result of `work`. If the record turns out to be unusable, reports that and returns `undefined`. */
  refusing<T>(place: Place, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (error instanceof OtherHookError) this.report.skipOtherHook(error.event)
      else if (error instanceof RecordError) this.report.refuse(place, error)
      else throw error
      return undefined
    }
  }

  /** Counts a converted record and reports the changes in `tally`. */
  exported(record: PlacedRecord, tally: Tally): void {
    this.#intake.remember(record)
    this.report.export()
    const items = changes(tally)
    this.report.warn(record.place, { items, total: items.length })
  }

  /** Removes the progress and prints the summary. */
  end(verb: string): void {
    this.progress.end()
    this.report.printPendingPipelines(this.#intake.pendingPipelines)
    const summary = this.report.summary(verb)
    if (summary !== undefined) this.progress.print(summary)
  }

  /** Runs the first pass. The second pass reports errors of the inputs. */
  async #survey(): Promise<void> {
    const progress = this.#surveyProgress
    for (const [index, source] of this.#sources.entries()) {
      if (!source.rereadable) continue
      for await (const reading of this.#jobGroups.survey(source.readings(progress), index)) {
        if (reading.kind === 'body') this.#intake.survey(reading.body)
        progress.addRecord()
      }
    }
    progress.end()
    this.#intake.surveyed()
  }

  /** Adds the logs of its jobs to a record. */
  #withJobLogs(place: Place, record: PipelineRecord): PipelineRecord {
    for (const { id } of record.jobs) {
      const log = this.#jobLogs.get(String(id))
      if (log === undefined) continue
      this.#unusedJobLogs.delete(String(id))
      if (log.droppedSections === 0) continue
      const reason = `--job-log ${id}: ${counted(log.droppedSections, 'section')} beyond the limit left out`
      this.report.warn(place, { items: [{ path: '', reason }], total: 1 })
    }
    return withJobLogs(record, this.#jobLogs)
  }

  /** Returns whether the record is admitted, and reports its warnings only in that case. */
  #isAdmitted(place: Place, admission: Admission): admission is Admitted {
    if (admission.kind === 'skip') this.report.skip(place, admission.reason)
    else this.report.warn(place, admission.warnings)
    return admission.kind === 'export'
  }
}

function fileSource(file: InputFile, maxDocumentBytes: number): RecordSource {
  return {
    name: file.name,
    rereadable: file.rereadable === true,
    readings: (progress) => readBodies(file, { maxDocumentBytes }, (bytes) => progress.addBytes(bytes)),
  }
}

const onePassNote = (maxBytes: number): string =>
  `longer than ${formatCount(maxBytes)} bytes (--max-file-bytes), so it was read in one pass: a pipeline found its parent and its job hooks only if they came before it; a file has no such limit`

function changes({ truncatedTexts, droppedElements, adjustedSpans }: Tally) {
  const reasons = [
    truncatedTexts > 0 && `${counted(truncatedTexts, 'text')} cut at the size limit`,
    droppedElements > 0 && `${counted(droppedElements, 'list element')} beyond the limit left out`,
    adjustedSpans > 0 && `${counted(adjustedSpans, 'span')} with times that had to be adjusted`,
  ]
  return reasons.filter((reason) => reason !== false).map((reason) => ({ path: '', reason }))
}

function totalBytes(files: readonly InputFile[]): number | undefined {
  let total = 0
  for (const { bytes } of files) {
    if (bytes === undefined) return undefined
    total += bytes
  }
  return total
}
