import { MAX_FAILURE_BYTES } from '../record/limits.ts'
import type { JobFailure } from '../record/pipeline-record.ts'
import { isErrorMarker } from './error-markers.ts'
import { failureFingerprint } from './fingerprint.ts'
import { maskSecrets, PrivateKeys } from './mask-secrets.ts'

/** The number of last lines among which an error marker is searched. */
export const WINDOW_LINES = 200
/** The number of lines before the first error marker. */
export const LINES_BEFORE_MARKER = 3
/** The minimum number of lines, if the log has that many. */
export const MIN_LINES = 20
/** The number of lines of a failure without any error marker. */
export const LINES_WITHOUT_MARKER = 50

/** The maximum number of characters of the stored lines together. */
const WINDOW_CHARACTERS = 262_144
const MAX_LINE_CHARACTERS = 2_000

/** Collects the last lines of a log, and selects those that show the failure. */
export class FailingLines {
  readonly #window: string[] = []
  readonly #privateKeys = new PrivateKeys()
  #characters = 0

  add(given: string): void {
    const line = this.#privateKeys.mask(given)
    if (line === undefined) return
    this.#window.push(line)
    this.#characters += line.length
    while (this.#window.length > WINDOW_LINES || this.#characters > WINDOW_CHARACTERS) {
      this.#characters -= this.#window.shift()!.length
    }
  }

  /** Forgets the lines before the script of the job, because they succeeded. */
  restart(): void {
    this.#window.length = 0
    this.#characters = 0
  }

  /** Returns the failing lines; `undefined` if the log has no text. */
  toFailure(): JobFailure | undefined {
    if (this.#window.length === 0) return undefined
    // A line is cut after its secrets are masked: a part of a secret may match no rule.
    const lines = this.#window.map((line) => cut(maskSecrets(line).trimEnd()))
    const first = lines.findIndex(isErrorMarker)
    const last = (count: number) => Math.max(0, lines.length - count)
    const start =
      first < 0 ? last(LINES_WITHOUT_MARKER) : Math.min(Math.max(0, first - LINES_BEFORE_MARKER), last(MIN_LINES))
    const selected = lines.slice(start)
    return { lines: lastBytes(selected).join('\n'), fingerprint: failureFingerprint(selected) }
  }
}

const cut = (line: string): string =>
  line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS).toWellFormed()}…` : line

/** Returns the last lines that fit into `MAX_FAILURE_BYTES`. */
function lastBytes(lines: readonly string[]): readonly string[] {
  let bytes = 0
  let start = lines.length
  while (start > 0) {
    bytes += new TextEncoder().encode(lines[start - 1]).length + 1
    if (bytes > MAX_FAILURE_BYTES) break
    start -= 1
  }
  return lines.slice(start)
}
