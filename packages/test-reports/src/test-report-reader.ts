import { MAX_VALUE_BYTES } from '@penstock/converter'
import { type Dialect, getDialect, otherDialect } from './dialect.ts'
import { OpenCase } from './open-case.ts'
import {
  defaultTestReportLimits,
  type TestEntry,
  type TestReport,
  TestReportError,
  type TestReportLimits,
  type TestSuite,
} from './report.ts'
import { boundedText, durationFrom, nameFrom, timeFrom } from './report-values.ts'
import { resultElements } from './result-elements.ts'
import { RowAttempts } from './row-attempts.ts'
import { type XmlAttributes, type XmlHandler, XmlReader } from './xml-reader.ts'

const roots: ReadonlySet<string> = new Set(['testsuites', 'testsuite'])

/** The place of the parser: in a list of suites and cases, in a case, in its result, or in an element that is not read. */
type Place =
  | { readonly kind: 'list'; readonly list: OpenList }
  | { readonly kind: 'case' }
  | { readonly kind: 'result' }
  | { readonly kind: 'stackTrace' }
  | { readonly kind: 'other' }

/** An open suite, or the root element. */
interface OpenList {
  readonly entries: TestEntry[]
  readonly attempts: RowAttempts
  readonly dialect: Dialect
  readonly file: string | undefined
  readonly isNamed: boolean
}

/**
 * Reads a test report in JUnit XML: `write` its bytes as they arrive, then `end`. Elements that are not known are ignored, and so
 * is the output of tests.
 */
export class TestReportReader implements XmlHandler {
  readonly #limits: TestReportLimits
  readonly #xml: XmlReader
  readonly #root: OpenList = newList(undefined, otherDialect, true)
  readonly #places: Place[] = []
  #hasRoot = false
  #case: OpenCase | undefined
  #cases = 0
  #suites = 0
  #dialect = otherDialect

  constructor(limits: TestReportLimits = defaultTestReportLimits) {
    this.#limits = limits
    this.#xml = new XmlReader(limits, this)
  }

  /** The number of attempts of cases so far. */
  get cases(): number {
    return this.#cases
  }

  /** @throws {TestReportError} */
  write(bytes: Uint8Array): void {
    this.#xml.write(bytes)
  }

  /** @throws {TestReportError} if the report is not complete, or is not a test report */
  end(): TestReport {
    this.#xml.end()
    if (!this.#hasRoot) throw new TestReportError('it is not a JUnit report: it has no element')
    return { entries: this.#root.entries }
  }

  open(name: string, attributes: XmlAttributes): void {
    const place = this.#places.at(-1)
    this.#places.push(this.#hasRoot ? this.#enter(place, name, attributes) : this.#enterRoot(name, attributes))
  }

  #enterRoot(name: string, attributes: XmlAttributes): Place {
    if (!roots.has(name)) {
      throw new TestReportError('it is not a JUnit report: its first element must be testsuites or testsuite')
    }
    this.#hasRoot = true
    this.#dialect = getDialect(attributes.get('name')) ?? otherDialect
    return { kind: 'list', list: name === 'testsuites' ? this.#root : this.#openSuite(this.#root, attributes) }
  }

  #enter(place: Place | undefined, name: string, attributes: XmlAttributes): Place {
    if (place?.kind === 'list') {
      if (name === 'testsuite') return { kind: 'list', list: this.#openSuite(place.list, attributes) }
      if (name === 'testcase') {
        this.#case = new OpenCase(attributes, place.list.dialect, place.list.file)
        return { kind: 'case' }
      }
    }
    const element = place?.kind === 'case' ? resultElements.get(name) : undefined
    if (element !== undefined) {
      this.#case!.openResult(element, attributes)
      return { kind: 'result' }
    }
    return { kind: place?.kind === 'result' && name === 'stackTrace' ? 'stackTrace' : 'other' }
  }

  text(text: string): void {
    const kind = this.#places.at(-1)?.kind
    if (kind === 'result' || kind === 'stackTrace') this.#case!.addText(text)
  }

  close(): void {
    const place = this.#places.pop()
    if (place?.kind === 'result') this.#case!.closeResult()
    if (place?.kind === 'list') this.#closeList(place.list)
    if (place?.kind === 'case') this.#closeCase()
  }

  #openSuite(parent: OpenList, attributes: XmlAttributes): OpenList {
    this.#suites += 1
    if (this.#suites > this.#limits.maxSuites) {
      throw new TestReportError(`it has more than ${this.#limits.maxSuites} suites`)
    }
    const given = nameFrom(attributes.get('name')) ?? nameFrom(attributes.get('package'))
    const name = given ?? 'test suite'
    const file = boundedText(attributes.get('file'), MAX_VALUE_BYTES) ?? parent.file
    const list = newList(file, getDialect(name) ?? this.#dialect, given !== undefined)
    const suite: TestSuite = {
      kind: 'suite',
      name,
      startNs: timeFrom(attributes.get('timestamp')),
      durationNs: durationFrom(attributes.get('time')),
      entries: list.entries,
    }
    parent.entries.push(suite)
    return list
  }

  /** Frees memory, and leaves out a suite without a name and entries: gotestsum writes one for packages that cannot be built. */
  #closeList(list: OpenList): void {
    list.attempts.end()
    if (list.entries.length > 0 || list.isNamed) return
    const parent = this.#places.at(-1)
    if (parent?.kind === 'list') parent.list.entries.pop()
  }

  #closeCase(): void {
    const rows = this.#case!.attempts()
    this.#case = undefined
    this.#cases += rows.length
    if (this.#cases > this.#limits.maxCases) {
      throw new TestReportError(`it has more than ${this.#limits.maxCases} cases; split it into several reports`)
    }
    const place = this.#places.at(-1)
    if (place?.kind === 'list') place.list.attempts.add(rows)
  }
}

function newList(file: string | undefined, dialect: Dialect, isNamed: boolean): OpenList {
  const entries: TestEntry[] = []
  return { entries, attempts: new RowAttempts(entries, dialect), dialect, file, isNamed }
}
