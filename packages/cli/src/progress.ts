import type { Clock } from '@penstock/runtime'
import type { OutputStream } from './environment.ts'
import { counted, formatBytes, formatCount } from './wording.ts'

/** A bar that is redrawn on a terminal; a line now and then elsewhere. */
type ProgressMode = 'bar' | 'lines' | 'none'

/** Runs shorter than this show nothing. */
const quietMs = { bar: 500, lines: 10_000, none: Number.POSITIVE_INFINITY }
/** Between two updates. */
const intervalMs = { bar: 100, lines: 10_000, none: Number.POSITIVE_INFINITY }

const barCells = 24
const clearLine = '\r\u001b[K'

interface ProgressOptions {
  readonly stderr: OutputStream
  readonly clock: Clock
  /** What is being done: `converting`. */
  readonly activity: string
  /** Length of all inputs, where all are known. */
  readonly totalBytes: number | undefined
  readonly mode: ProgressMode
}

/** How far a run has come, on standard error. */
export class Progress {
  readonly #options: ProgressOptions
  #nextMs: number
  #bytes = 0
  #records = 0
  #expected = 0
  #drawn = false

  constructor(options: ProgressOptions) {
    this.#options = options
    this.#nextMs = options.clock.nowMs() + quietMs[options.mode]
  }

  /** So many more records are to come; not every source can tell. */
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

  /** A line that stays, above the bar. */
  print(line: string): void {
    this.#clear()
    this.#options.stderr.write(`${line}\n`)
  }

  end(): void {
    this.#clear()
  }

  #update(): void {
    const nowMs = this.#options.clock.nowMs()
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
