import { type KeyValue, type Span, SpanKind, StatusCode } from '@penstock/otlp'
import { attributesFrom, caseAttributes, failureAttributes, suiteAttributes } from './attributes.ts'
import { type ReportPlace, SpanIds } from './ids.ts'
import type { TestCase, TestEntry, TestReport, TestSuite } from './report.ts'
import { schedule, type Times } from './schedule.ts'
import { EVENT_EXCEPTION } from './semconv.ts'
import { suiteStatus } from './suite-status.ts'

export interface TestSpanOptions extends ReportPlace {
  /** The time at which the report was written; it places reports without times. */
  readonly writtenNs: bigint
  /** The first part of our own attribute keys, in place of `svc`. */
  readonly vendorNamespace: string
}

/** The bits above the W3C trace flags: whether it is known that the parent is remote, and whether it is. */
const LOCAL_PARENT = 0x100
const REMOTE_PARENT = 0x300

/** Returns the spans of all suites and cases, each after the one above it. The parent of the first ones is the job. */
export function* testSpans(report: TestReport, options: TestSpanOptions): Generator<Span> {
  const times = schedule(report, options.writtenNs)
  const context: Context = { options, ids: new SpanIds(options), times }
  yield* entrySpans(report.entries, '', context)
}

interface Context {
  readonly options: TestSpanOptions
  readonly ids: SpanIds
  readonly times: ReadonlyMap<TestEntry, Times>
}

function* entrySpans(entries: readonly TestEntry[], parentId: string, context: Context): Generator<Span> {
  for (const entry of entries) {
    if (entry.kind === 'case') {
      yield caseSpan(entry, parentId, context)
      continue
    }
    const span = suiteSpan(entry, parentId, context)
    yield span
    yield* entrySpans(entry.entries, span.spanId, context)
  }
}

function suiteSpan(suite: TestSuite, parentId: string, context: Context): Span {
  const { ids, options } = context
  return {
    ...baseSpan(suite, parentId, context),
    spanId: ids.suiteId(parentId, suite.name),
    attributes: attributesFrom(suiteAttributes, suite, options.vendorNamespace),
    status: suiteStatus(suite) === 'failure' ? failed : undefined,
  }
}

function caseSpan(testCase: TestCase, parentId: string, context: Context): Span {
  const { ids, options, times } = context
  const { endNs } = times.get(testCase)!
  const hasFailed = testCase.result === 'failed' || testCase.result === 'error'
  return {
    ...baseSpan(testCase, parentId, context),
    spanId: ids.caseId(parentId, testCase),
    attributes: attributesFrom(caseAttributes, testCase, options.vendorNamespace),
    events: testCase.failures.map((failure) => exceptionEvent(endNs, attributesFrom(failureAttributes, failure, ''))),
    droppedEventsCount: testCase.droppedFailures,
    status: hasFailed ? failed : undefined,
  }
}

const failed = { message: '', code: StatusCode.ERROR }

function baseSpan(
  entry: TestEntry,
  parentId: string,
  { options, times }: Context,
): Omit<Span, 'spanId' | 'attributes'> {
  const { startNs, endNs } = times.get(entry)!
  return {
    traceId: options.traceId,
    traceState: options.traceState,
    parentSpanId: parentId || options.parentSpanId,
    flags: options.traceFlags | (parentId === '' ? REMOTE_PARENT : LOCAL_PARENT),
    name: entry.name,
    kind: SpanKind.INTERNAL,
    startTimeUnixNano: startNs,
    endTimeUnixNano: endNs,
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    status: undefined,
  }
}

const exceptionEvent = (timeUnixNano: bigint, attributes: readonly KeyValue[]) => ({
  timeUnixNano,
  name: EVENT_EXCEPTION,
  attributes,
  droppedAttributesCount: 0,
})
