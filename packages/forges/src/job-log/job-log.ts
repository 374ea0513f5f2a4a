import type { JobFailure, StepRecord } from '../record/pipeline-record.ts'
import { FailingLines } from './failing-lines.ts'
import { type LogSegment, LogSegments } from './log-segments.ts'
import { plainText } from './plain-text.ts'
import { isScript } from './runner-sections.ts'
import { ERASE_LINE, markerAtEnd, type SectionMarker } from './section-marker.ts'
import { Sections } from './sections.ts'

/** The content of a job's log. */
export interface JobLog {
  /** The sections in the order of their starts. */
  readonly sections: readonly StepRecord[]
  /** The number of sections that were too many to be stored. */
  readonly droppedSections: number
  /** The failure of the job, if it failed; `undefined` for a log without text. */
  readonly failure: JobFailure | undefined
}

/**
 * Matches what a runner writes before each line under `FF_TIMESTAMPS`: a time, the stream, and `+` if the line continues the line before.
 * The other form is that of GitHub.
 */
const prefix = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?:\d{6}Z [0-9a-f]{2}[EO](?<continuation>[ +])|\d{7}Z )/
/** The maximum length of a line with the lines that continue it. */
const MAX_LINE_CHARACTERS = 16_384

/**
 * Reads the log of a job from chunks of bytes. Memory is bounded: one line, `MAX_STEPS` sections, and the last lines.
 */
export class JobLogReader {
  readonly #segments = new LogSegments((segment) => this.#receive(segment))
  readonly #sections = new Sections()
  readonly #failingLines = new FailingLines()
  /** The visible text of the current line. A carriage return lets later text replace it. */
  #line = ''
  /** A marker that the next text confirms by erasing the line. */
  #marker: SectionMarker | undefined
  #isTitle = false
  /** Whether the current line has ended, unless the next one continues it. */
  #hasEnded = true
  #isReplaced = false

  add(chunk: Uint8Array): void {
    this.#segments.add(chunk)
  }

  end(): JobLog {
    this.#segments.end()
    this.#endLine()
    const sections = this.#sections.toSteps()
    return { sections, droppedSections: this.#sections.dropped, failure: this.#failingLines.toFailure() }
  }

  #receive({ text: given, end, isCut }: LogSegment): void {
    let text = isCut ? withoutLastWord(given) : given
    if (this.#hasEnded) {
      const found = prefix.exec(text)
      if (found !== null) text = text.slice(found[0].length)
      if (found?.groups?.continuation !== '+') this.#endLine()
      this.#hasEnded = false
    }
    if (text !== '') text = this.#confirmMarker(text)
    const found = end === 'return' && !isCut ? markerAtEnd(text) : undefined
    this.#show(found === undefined ? text : text.slice(0, found.at))
    this.#marker = found?.marker ?? (text === '' ? this.#marker : undefined)
    if (end === 'feed') this.#hasEnded = true
    if (end === 'return') this.#isReplaced = true
  }

  /** Adds the marker before this text if the text confirms it, and returns the text after the confirmation. */
  #confirmMarker(text: string): string {
    const marker = this.#marker
    if (marker === undefined || !text.startsWith(ERASE_LINE)) return text
    this.#flush()
    this.#marker = undefined
    this.#isTitle = this.#sections.add(marker)
    if (marker.kind === 'start' && isScript(marker.name)) this.#failingLines.restart()
    return text.slice(ERASE_LINE.length)
  }

  /** Adds text to the line, or replaces the line after a carriage return. Text that nothing shows replaces nothing. */
  #show(raw: string): void {
    const text = plainText(raw)
    if (text.trim() === '') return
    const line = this.#isReplaced ? text : this.#line + text
    this.#line = line.length > MAX_LINE_CHARACTERS ? withoutLastWord(line.slice(0, MAX_LINE_CHARACTERS)) : line
    this.#isReplaced = false
  }

  #endLine(): void {
    this.#flush()
    this.#isTitle = false
    this.#isReplaced = false
    this.#marker = undefined
  }

  #flush(): void {
    const line = this.#line
    this.#line = ''
    if (line === '') return
    if (this.#isTitle) this.#sections.addTitle(line)
    this.#isTitle = false
    if (!this.#sections.isAfterScript) this.#failingLines.add(line)
  }
}

/** Returns a text that was cut without its last word, which could be a part of a secret that no rule recognises. */
function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && !/\s/.test(text[end - 1]!)) end -= 1
  return `${text.slice(0, end)}…`
}
