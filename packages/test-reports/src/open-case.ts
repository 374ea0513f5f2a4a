import { MAX_VALUE_BYTES } from '@penstock/converter'
import type { Dialect } from './dialect.ts'
import { MAX_FAILURES, MAX_STACKTRACE_BYTES, type TestFailure, type TestResult } from './report.ts'
import { boundedText, durationFrom, lineFrom, nameFrom } from './report-values.ts'
import { notRun, type ResultElement, resultOrder } from './result-elements.ts'
import type { AttemptRow } from './row-attempts.ts'
import { firstFrame } from './stack-frames.ts'
import type { XmlAttributes } from './xml-reader.ts'

/** The maximum length of the text of a result that is kept while it is read. UTF-8 never has fewer bytes than UTF-16 has code units. */
const MAX_TEXT_LENGTH = MAX_STACKTRACE_BYTES

/** A `testcase` element that is being read. */
export class OpenCase {
  readonly #row: XmlAttributes
  readonly #dialect: Dialect
  readonly #suiteFile: string | undefined
  readonly #earlier: OpenAttempt[] = []
  readonly #this = new OpenAttempt()
  readonly #later: OpenAttempt[] = []
  #attempt: OpenAttempt | undefined
  #element: { readonly attributes: XmlAttributes; text: string } | undefined

  constructor(attributes: XmlAttributes, dialect: Dialect, suiteFile: string | undefined) {
    this.#row = attributes
    this.#dialect = dialect
    this.#suiteFile = suiteFile
    this.#this.durationNs = durationFrom(attributes.get('time'))
    if (notRun.has(attributes.get('status')) || notRun.has(attributes.get('result'))) this.#this.result = 'skipped'
  }

  openResult({ result, attempt }: ResultElement, attributes: XmlAttributes): void {
    this.#attempt = attempt === 'this' ? this.#this : new OpenAttempt(durationFrom(attributes.get('time')))
    if (attempt === 'earlier') this.#earlier.push(this.#attempt)
    if (attempt === 'later') this.#later.push(this.#attempt)
    this.#element = { attributes, text: '' }
    const isStronger = resultOrder.indexOf(result) > resultOrder.indexOf(this.#attempt.result)
    if (isStronger) this.#attempt.result = result
  }

  addText(text: string): void {
    const element = this.#element!
    if (element.text.length < MAX_TEXT_LENGTH) element.text += text.slice(0, MAX_TEXT_LENGTH - element.text.length)
  }

  closeResult(): void {
    const { attributes, text } = this.#element!
    this.#element = undefined
    if (this.#attempt!.result === 'skipped') return
    const stacktrace = boundedText(text.trim(), MAX_STACKTRACE_BYTES)
    const firstLine = stacktrace?.split('\n', 1)[0]?.trim()
    this.#attempt!.add({
      type: nameFrom(attributes.get('type')),
      message: boundedText(attributes.get('message'), MAX_VALUE_BYTES) ?? boundedText(firstLine, MAX_VALUE_BYTES),
      stacktrace,
    })
  }

  /** Returns the attempts that the element describes, in their order. */
  attempts(): AttemptRow[] {
    const className = nameFrom(this.#row.get('classname'))
    const name = nameFrom(this.#row.get('name')) ?? className ?? 'test case'
    const file = boundedText(this.#row.get('file'), MAX_VALUE_BYTES) ?? this.#suiteFile
    return [...this.#earlier, this.#this, ...this.#later].map(({ durationNs, result, failures, dropped }) => {
      const frame = firstFrame(failures[0]?.stacktrace, file)
      return {
        kind: 'case',
        name,
        className,
        namedFile: file,
        file: file ?? frame?.file,
        line: lineFrom(this.#row.get('line'), this.#dialect.firstLine) ?? frame?.line,
        durationNs,
        result,
        failures,
        droppedFailures: dropped,
      }
    })
  }
}

class OpenAttempt {
  durationNs: bigint
  result: TestResult = 'passed'
  readonly failures: TestFailure[] = []
  dropped = 0

  constructor(durationNs = 0n) {
    this.durationNs = durationNs
  }

  add(failure: TestFailure): void {
    if (this.failures.length < MAX_FAILURES) this.failures.push(failure)
    else this.dropped += 1
  }
}
