import type { Span } from '@penstock/otlp'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readText } from './reading.harness.ts'
import { testSpans } from './test-spans.ts'

const place = { traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16), traceState: 'x=y', traceFlags: 3 }
const spans = (text: string, reportName = 'report.xml', vendorNamespace = 'svc'): Span[] => [
  ...testSpans(readText(text), { ...place, reportName, writtenNs: 1_000_000_000_000n, vendorNamespace }),
]

const times = (text: string) =>
  spans(text).map(({ name, startTimeUnixNano: start, endTimeUnixNano: end }) => [name, start, end - start])

test('cases follow each other from the start of their suite', () => {
  const text = `<testsuites><testsuite name="s" timestamp="2026-11-30T21:05:48" time="9">
    <testcase name="a" time="1"/><testcase name="b" time="2"/></testsuite><testsuite name="t"/></testsuites>`
  const start = 1_796_072_748_000_000_000n
  expect(times(text)).toEqual([
    ['s', start, 9_000_000_000n],
    ['a', start, 1_000_000_000n],
    ['b', start + 1_000_000_000n, 2_000_000_000n],
    ['t', start + 9_000_000_000n, 0n],
  ])
})

test('a report without times ends when it was written', () => {
  expect(times('<testsuite name="s"><testcase name="a" time="1"/></testsuite>')).toEqual([
    ['s', 999_000_000_000n, 1_000_000_000n],
    ['a', 999_000_000_000n, 1_000_000_000n],
  ])
})

test('no time exceeds the range of OTLP', () => {
  const rows = '<testcase time="1e99"/>'.repeat(300)
  for (const timestamp of ['9999-12-31T23:59:59Z', '2262-01-01T00:00:00Z', '2026-11-30T00:00:00Z', '']) {
    const text = `<testsuite timestamp="${timestamp}" time="1e99">${rows}</testsuite>`
    const all = spans(text).flatMap((span) => [span.startTimeUnixNano, span.endTimeUnixNano])
    expect(all.filter((time) => time < 0n || time >= 2n ** 63n)).toEqual([])
  }
})

test('suites are below the job, cases below their suite', () => {
  const [outer, inner, row] = spans(
    '<testsuite name="o"><testsuite name="i"><testcase name="a"/></testsuite></testsuite>',
  )
  expect(outer).toMatchObject({
    ...{ traceId: place.traceId, traceState: 'x=y' },
    parentSpanId: place.parentSpanId,
    flags: 0x303,
  })
  expect(inner).toMatchObject({ parentSpanId: outer!.spanId, flags: 0x103 })
  expect(row).toMatchObject({ parentSpanId: inner!.spanId, flags: 0x103 })
})

test('the last attempt decides the status of a suite', () => {
  const status = (rows: string) => {
    const [{ attributes, status } = {}] = spans(`<testsuite name="s">${rows}</testsuite>`)
    return [attributes?.find(({ key }) => key === 'test.suite.run.status')?.value, status?.code]
  }
  const failed = '<testcase name="a"><failure/></testcase>'
  const passed = '<testcase name="a"/>'
  const skipped = '<testcase name="b"><skipped/></testcase>'
  expect(status(failed + passed)).toEqual(['success', undefined])
  expect(status(passed + failed)).toEqual(['failure', 2])
  expect(status(skipped)).toEqual(['skipped', undefined])
  expect(status(skipped + passed)).toEqual(['success', undefined])
  expect(status('')).toEqual(['success', undefined])
})

test('own keys have the vendor namespace', () => {
  const keys = spans('<testsuite name="s"><testcase name="a"/></testsuite>', '', 'gitlab').flatMap(
    ({ attributes }) => attributes,
  )
  expect(keys.map(({ key }) => key).filter((key) => /^(?:svc|gitlab)\./.test(key))).toEqual([
    'gitlab.test.case.result',
    'gitlab.test.case.attempt',
  ])
})

test('ids are those of the names, in any order of reports, and all different', () => {
  const name = fc.constantFrom('a', 'b', 'a\n', '["a"]', '')
  const row = fc.record({ name, className: name, file: name })
  const escaped = (text: string) => text.replaceAll('"', '&quot;').replaceAll('\n', '&#10;')
  const xml = (rows: readonly { name: string; className: string; file: string }[]) =>
    rows.map(
      (each) =>
        `<testcase name="${escaped(each.name)}" classname="${escaped(each.className)}" file="${escaped(each.file)}"/>`,
    )
  const report = fc
    .array(fc.record({ name, rows: fc.array(row, { maxLength: 4 }) }), { maxLength: 4 })
    .map((suites) =>
      suites.map((each) => `<testsuite name="${escaped(each.name)}">${xml(each.rows).join('')}</testsuite>`),
    )
    .map((suites) => `<testsuites>${suites.join('')}</testsuites>`)
  fc.assert(
    fc.property(fc.array(report, { maxLength: 4 }), (reports) => {
      const ids = (order: readonly number[]) =>
        new Map(order.map((at) => [at, spans(reports[at]!, `${at}.xml`).map(({ spanId }) => spanId)]))
      const forwards = ids([...reports.keys()])
      const backwards = ids([...reports.keys()].reverse())
      expect(backwards).toEqual(new Map([...forwards].reverse()))
      const all = [...forwards.values()].flat()
      expect(new Set(all).size).toBe(all.length)
    }),
  )
})

test('another job, trace or report has other ids', () => {
  const report = readText('<testsuite name="s"/>')
  const options = { ...place, reportName: 'r', writtenNs: 0n, vendorNamespace: 'svc' }
  const others = [
    options,
    { ...options, traceId: 'c'.repeat(32) },
    { ...options, parentSpanId: 'c'.repeat(16) },
    { ...options, reportName: '' },
  ]
  expect(new Set(others.map((each) => [...testSpans(report, each)][0]!.spanId)).size).toBe(4)
})
