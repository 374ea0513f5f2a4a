import type { RecordError, RunId, Warnings } from '@penstock/forges'
import type { Place } from '../input/record-stream.ts'
import { exitCodes } from '../process/environment.ts'
import { counted, formatCount, printable } from '../text/wording.ts'

/** The number of printed remarks of each kind per file, so that they do not hide refusals. Refusals are always printed. */
const remarksPerFile = 20

type Remark = 'skipped' | 'warning'

/** The number of names of other events that are counted separately. Events with further names are counted together. */
const namedEvents = 10

/** Prints a line for each record that is skipped or refused, and counts all records. */
export class Report {
  readonly #print: (line: string) => void
  readonly #inFile: Record<Remark, number> = { skipped: 0, warning: 0 }
  readonly #otherHooks = new Map<string, number>()
  #exported = 0
  #skipped = 0
  #refused = 0
  #isWithoutJob = false

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  get exitCode(): number {
    return this.#refused > 0 || this.#isWithoutJob ? exitCodes.incomplete : exitCodes.ok
  }

  export(): void {
    this.#exported += 1
  }

  refuse(place: Place, { path, reason, line, column }: RecordError): void {
    this.#refused += 1
    const at = line === undefined ? place : { ...place, line }
    this.#say(at, `${path === '' ? '' : `${path}: `}${reason}`, column)
  }

  skip(place: Place, reason: string): void {
    this.#skipped += 1
    this.#remark('skipped', place, reason)
  }

  /** Counts a hook about another event; the number is printed at the end of the file. */
  skipOtherHook(event: string): void {
    this.#skipped += 1
    const isNamed = this.#otherHooks.has(event) || this.#otherHooks.size < namedEvents
    const name = isNamed ? event : 'others'
    this.#otherHooks.set(name, (this.#otherHooks.get(name) ?? 0) + 1)
  }

  warn(place: Place, { items, total }: Warnings): void {
    for (const { path, reason } of items) this.#remark('warning', place, `${path === '' ? '' : `${path}: `}${reason}`)
    this.#inFile.warning += total - items.length
  }

  /** Prints the number of remarks about the file that were not printed. */
  endFile(file: string): void {
    this.#printOtherHooks(file)
    const unnamed = (remark: Remark) => this.#inFile[remark] - remarksPerFile
    if (unnamed('skipped') > 0) this.#print(printable(`${file}: … and ${formatCount(unnamed('skipped'))} more skipped`))
    if (unnamed('warning') > 0) this.#print(printable(`${file}: … and ${counted(unnamed('warning'), 'more warning')}`))
    this.#inFile.skipped = 0
    this.#inFile.warning = 0
  }

  /** Names the pipelines for which only job hooks arrived, which is why they were not converted. */
  printPendingPipelines(ids: readonly RunId[]): void {
    for (const id of ids.slice(0, remarksPerFile))
      this.#print(`pipeline ${id}: only job hooks came, which add to it; its pipeline hook must follow`)
    const unnamed = ids.length - remarksPerFile
    if (unnamed > 0) this.#print(`… and ${counted(unnamed, 'more pipeline')} of which only job hooks came`)
  }

  /** Reports the logs of jobs that belong to no converted pipeline. */
  refuseJobLogs(jobIds: ReadonlySet<string>): void {
    for (const id of jobIds) {
      this.#isWithoutJob = true
      this.#print(printable(`--job-log ${id}: no pipeline of the input that was converted has a job with this id`))
    }
  }

  /** Returns `3 converted, 1 skipped, 2 refused`; `undefined` if there is nothing to report. */
  summary(verb: string): string | undefined {
    const all = this.#exported + this.#skipped + this.#refused
    if (all <= 1 || all === this.#exported) return undefined
    const counts = { [verb]: this.#exported, skipped: this.#skipped, refused: this.#refused }
    return Object.entries(counts)
      .map(([word, count]) => `${formatCount(count)} ${word}`)
      .join(', ')
  }

  #printOtherHooks(file: string): void {
    const counts = [...this.#otherHooks].sort(([, a], [, b]) => b - a)
    const total = counts.reduce((sum, [, count]) => sum + count, 0)
    if (total === 0) return
    const hooks = total === 1 ? '1 hook about another event' : `${formatCount(total)} hooks about other events`
    const events = counts.map(([event, count]) => `${event} ${formatCount(count)}`)
    this.#print(printable(`${file}: skipped: ${hooks} (${events.join(', ')})`))
    this.#otherHooks.clear()
  }

  #remark(remark: Remark, place: Place, reason: string): void {
    this.#inFile[remark] += 1
    if (this.#inFile[remark] <= remarksPerFile) this.#say(place, `${remark}: ${reason}`)
  }

  #say({ file, line, index }: Place, message: string, column?: number): void {
    const lineAndColumn = line === undefined ? [] : [`line ${line}${column === undefined ? '' : `, column ${column}`}`]
    const parts = [file, ...lineAndColumn, ...(index === undefined ? [] : [`[${index}]`]), message]
    this.#print(printable(parts.join(': ')))
  }
}
