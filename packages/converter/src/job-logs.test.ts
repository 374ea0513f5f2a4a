import type { JobRecord, PipelineRecord, StepRecord } from '@penstock/forges/record'
import type { KeyValue, LogRecord, Span } from '@penstock/otlp'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ConvertOptionsInput, convert, resolveOptions, toReadableSpans } from './index.ts'
import { job, run, second, step } from './other-forges.harness.ts'

const toTraces = (record: PipelineRecord, options: ConvertOptionsInput = {}) =>
  convert(record, resolveOptions(options)).traces
const toSpans = (record: PipelineRecord, options?: ConvertOptionsInput): readonly Span[] =>
  toTraces(record, options).resources[0]?.scopes[0]?.items ?? []
const toLogs = (record: PipelineRecord, options?: ConvertOptionsInput): readonly LogRecord[] =>
  convert(record, resolveOptions(options)).logs.resources[0]?.scopes[0]?.items ?? []
const toValues = (attributes: readonly KeyValue[] = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value]))

/** A job from second 10 to 40 of its run. */
const ofGitlab = (more: Partial<JobRecord>) => run({ forge: 'gitlab', jobs: [job(more)] })
const section = (name: string, startAt?: number, endAt?: number, parent?: number, title?: string): StepRecord => ({
  ...step(name, 'unknown', startAt, endAt),
  section: { title, parent },
})

describe('sections', () => {
  test('lie below the section that contains them, with their title', () => {
    const steps = [
      section('step_script', 11, 30, undefined, 'Executing'),
      section('build', 12, 20, 1),
      section('a', 13, 14, 2),
    ]
    const [, task, script, build, inner] = toSpans(ofGitlab({ steps }))
    expect([script, build, inner].map((span) => span?.parentSpanId)).toEqual([
      task?.spanId,
      script?.spanId,
      build?.spanId,
    ])
    expect(toValues(script?.attributes)).toEqual({
      'svc.cicd.pipeline.step.name': 'step_script',
      'svc.cicd.pipeline.step.number': 1n,
      'svc.cicd.pipeline.step.status': 'unknown',
      'svc.cicd.pipeline.step.title': 'Executing',
    })
  })

  test('that are open end with what contains them; one in a section without a time belongs to the job', () => {
    const steps = [section('a', 11, 30), section('b', 12, undefined, 1), section('c'), section('d', 31, undefined, 3)]
    const [, task, , open, last] = toSpans(ofGitlab({ steps }))
    expect(open?.endTimeUnixNano).toBe(second(30))
    expect(last).toMatchObject({ parentSpanId: task?.spanId, endTimeUnixNano: second(40) })
  })

  test('that begin in the second in which their job began begin with it, which is no adjustment', () => {
    const [, , first, far] = toSpans(
      ofGitlab({ startedAtNs: second(10) + 700_000_000n, steps: [section('a', 10, 12), section('b', 1, 12)] }),
    )
    for (const span of [first, far]) expect(span?.startTimeUnixNano).toBe(second(10) + 700_000_000n)
    expect(toValues(first?.attributes)).not.toHaveProperty('svc.cicd.timestamps.adjusted')
    expect(toValues(far?.attributes)).toMatchObject({ 'svc.cicd.timestamps.adjusted': true })
  })

  test('are never outside their job, whatever their times', () => {
    const time = fc.option(fc.integer({ min: -50, max: 90 }), { nil: undefined })
    const sections = fc.array(fc.tuple(time, time, fc.option(fc.nat(9), { nil: undefined })), { maxLength: 10 })
    fc.assert(
      fc.property(sections, time, time, (given, startAt, endAt) => {
        const steps = given.map(([from, to, parent], at) =>
          section('s', from, to, parent !== undefined && parent > 0 && parent <= at ? parent : undefined),
        )
        const times = step('', '', startAt, endAt)
        const record = ofGitlab({ startedAtNs: times.startedAtNs, finishedAtNs: times.finishedAtNs, steps })
        const spans = new Map(toSpans(record).map((span) => [span.spanId, span]))
        for (const span of spans.values()) {
          if (!span.name.startsWith('step: ')) continue
          const outer = spans.get(span.parentSpanId)!
          expect(span.startTimeUnixNano).toBeGreaterThanOrEqual(outer.startTimeUnixNano)
          expect(span.endTimeUnixNano).toBeGreaterThanOrEqual(span.startTimeUnixNano)
          expect(span.endTimeUnixNano).toBeLessThanOrEqual(outer.endTimeUnixNano)
        }
      }),
    )
  })
})

describe('the failure of a job', () => {
  const failure = { lines: `${'x'.repeat(79)}\n`.repeat(200), fingerprint: '0123456789abcdef' }
  const record = ofGitlab({ status: 'failed', failure })

  test('is an event at the end of its span', () => {
    const [, span] = toSpans(record)
    expect(span?.events).toMatchObject([{ name: 'svc.job.failure', timeUnixNano: second(40) }])
    expect(toValues(span?.events[0]?.attributes)).toEqual({
      'svc.cicd.pipeline.task.failure.lines': failure.lines,
      'svc.cicd.pipeline.task.failure.fingerprint': '0123456789abcdef',
    })
    expect(toValues(span?.attributes)).toMatchObject({
      'svc.cicd.pipeline.task.failure.fingerprint': '0123456789abcdef',
    })
    const [, readable] = toReadableSpans(toTraces(record))
    expect(readable?.events).toMatchObject([
      { name: 'svc.job.failure', time: [Number(second(40) / 1_000_000_000n), 0] },
    ])
  })

  test('is a log record', () => {
    const [, , log] = toLogs(record)
    expect(log).toMatchObject({ severityText: 'ERROR', body: { value: failure.lines } })
    expect(toLogs(record, { eventNames: true })[2]?.eventName).toBe('svc.job.failure')
    expect(log?.spanId).toBe(toSpans(record)[1]?.spanId)
  })

  test('is left out without extensions', () => {
    expect(toSpans(record, { extensions: false })[1]?.events).toEqual([])
    expect(toLogs(record, { extensions: false })).toHaveLength(2)
  })

  test('has the name of the vendor namespace', () => {
    expect(toSpans(record, { vendorNamespace: 'acme' })[1]?.events[0]?.name).toBe('acme.job.failure')
  })
})
