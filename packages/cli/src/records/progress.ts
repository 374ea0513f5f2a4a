import type { Clock } from '@penstock/runtime'
import type { OutputStream } from '../process/environment.ts'
import { counted, formatBytes, formatCount } from '../text/wording.ts'

/** The form of the progress: a redrawn bar on a terminal, a line every few seconds otherwise. */
type ProgressMode = 'bar' | 'lines' | 'none'

/** The duration of a run before progress is shown. */
const quietMs = { bar: 500, lines: 10_000, none: Number.POSITIVE_INFINITY }
/** The time between two updates. */
const intervalMs = { bar: 100, lines: 10_000, none: Number.POSITIVE_INFINITY }

const barCells = 24
const clearLine = '\r\u001b[K'

interface ProgressOptions {
  readonly stderr: OutputStream
  readonly clock: Clock
  /** The activity in the text, such as `converting`. */
  readonly activity: string
  /** The length of all inputs, if all are known. */
  readonly totalBytes: number | undefined
  readonly mode: ProgressMode
}

/** Shows the progress of a run on standard error. */
export class Progress {
  readonly #options: ProgressOptions
  #nextMs: number
  #bytes = 0
  #records = 0
  #expected = 0
  #drawn = false

  constructor(options: ProgressOptions) {
    this.#options = options
    this.#nextMs = options.clock.monotonicMs() + quietMs[options.mode]
  }

  /** Adds to the expected number of records, which not every source knows. */
  expect(records: number): void {
    this.#expected += records
  }

  addBytes(bytes: number): void {
    this.#bytes += bytes
    this.#update()
  }

  addRecord(): void {
    this.#records += 1
    this.#update()
  }

  /** Prints a permanent line above the bar. */
  print(line: string): void {
    this.#clear()
    this.#options.stderr.write(`${line}\n`)
  }

  end(): void {
    this.#clear()
  }

  #update(): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs < this.#nextMs) return
    const { stderr, mode } = this.#options
    this.#nextMs = nowMs + intervalMs[mode]
    if (mode === 'lines') {
      stderr.write(`${this.#text()}\n`)
    } else {
      stderr.write(clearLine + this.#bar() + this.#text())
      this.#drawn = true
    }
  }

  #clear(): void {
    if (this.#drawn) this.#options.stderr.write(clearLine)
    this.#drawn = false
  }

  #text(): string {
    const { activity, totalBytes } = this.#options
    const share = totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`
    const records =
      this.#expected === 0
        ? counted(this.#records, 'record')
        : `${formatCount(this.#records)} of ${counted(Math.max(this.#expected, this.#records), 'record')}`
    return `${activity}: ${records}, ${formatBytes(this.#bytes)}${share} read`
  }

  #bar(): string {
    const [done, total = 0] =
      this.#expected === 0 ? [this.#bytes, this.#options.totalBytes] : [this.#records, this.#expected]
    if (total === 0) return ''
    const share = Math.min(done / total, 1)
    const full = Math.round(share * barCells)
    return `${'█'.repeat(full)}${'░'.repeat(barCells - full)} ${String(Math.floor(share * 100)).padStart(3)}%  `
  }
}
