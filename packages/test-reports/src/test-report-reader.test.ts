import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { casesIn, readCases, readText } from './reading.harness.ts'
import { defaultTestReportLimits, TestReportError } from './report.ts'
import { TestReportReader } from './test-report-reader.ts'

const suite = (content: string, attributes = 'name="s"') => `<testsuite ${attributes}>${content}</testsuite>`
const outcomes = (text: string) => readCases(text).map(({ name, attempt, result }) => `${name} ${attempt} ${result}`)

describe('results', () => {
  test.each([
    ['<testcase name="a"/>', 'a 1 passed'],
    ['<testcase name="a"><failure/></testcase>', 'a 1 failed'],
    ['<testcase name="a"><error/></testcase>', 'a 1 error'],
    ['<testcase name="a"><skipped/></testcase>', 'a 1 skipped'],
    ['<testcase name="a"><failure/><error/><failure/></testcase>', 'a 1 error'],
    ['<testcase name="a" status="notrun"/>', 'a 1 skipped'],
    ['<testcase name="a"><system-out><failure/></system-out></testcase>', 'a 1 passed'],
    ['<testcase classname="c"/>', 'c 1 passed'],
    ['<testcase/>', 'test case 1 passed'],
  ])('%s', (row, expected) => {
    expect(outcomes(suite(row))).toEqual([expected])
  })

  test('rows with the same names in one suite are attempts', () => {
    const rows = '<testcase name="a"><failure/></testcase><testcase name="b"/><testcase name="a"/>'
    expect(outcomes(suite(rows))).toEqual(['a 1 failed', 'b 1 passed', 'a 2 passed'])
    expect(outcomes(suite(suite(rows) + suite(rows)))).toHaveLength(6)
    expect(readCases(suite(rows)).map(({ isRepeated }) => isRepeated)).toEqual([true, false, false])
  })

  test('an attempt of pytest that another one follows has failed', () => {
    expect(outcomes(suite('<testcase name="a"/><testcase name="a"/>', 'name="pytest"'))).toEqual([
      'a 1 failed',
      'a 2 passed',
    ])
  })

  test('elements for other attempts are cases of their own', () => {
    const flaky = '<testcase name="a" time="2"><flakyFailure time="1"/><flakyError/></testcase>'
    expect(outcomes(suite(flaky))).toEqual(['a 1 failed', 'a 2 error', 'a 3 passed'])
    expect(readCases(suite(flaky)).map(({ durationNs }) => durationNs)).toEqual([1_000_000_000n, 0n, 2_000_000_000n])
    const rerun = '<testcase name="a"><failure/><rerunFailure/><rerunError/></testcase>'
    expect(outcomes(suite(rerun))).toEqual(['a 1 failed', 'a 2 failed', 'a 3 error'])
  })

  test('the number of failures and the length of their texts are limited', () => {
    const failure = `<failure type="E" message="${'m'.repeat(9_000)}">${'é'.repeat(20_000)}</failure>`
    const [{ failures, droppedFailures } = {}] = readCases(suite(`<testcase>${failure.repeat(10)}</testcase>`))
    expect(failures).toHaveLength(8)
    expect(droppedFailures).toBe(2)
    expect(Buffer.byteLength(failures![0]!.message!)).toBe(4_096)
    expect(Buffer.byteLength(failures![0]!.stacktrace!)).toBe(16_384)
  })

  test('a failure without a message has the first line of its text', () => {
    const [{ failures } = {}] = readCases(suite('<testcase><failure>\n  a: b\n  c</failure></testcase>'))
    expect(failures).toEqual([{ type: undefined, message: 'a: b', stacktrace: 'a: b\n  c' }])
  })
})

test('a file comes from the case, the suite above, or a stack frame', () => {
  const failure = '<failure>at f (/b/test/x.js:3:1)\nat g (/b/other.js:4:1)</failure>'
  const place = (row: string, attributes?: string) => {
    const [{ file, line } = {}] = readCases(suite(row, attributes))
    return `${file}:${line}`
  }
  expect(place(`<testcase file="other.js">${failure}</testcase>`)).toBe('other.js:4')
  expect(place(`<testcase>${failure}</testcase>`, 'file="c.js"')).toBe('c.js:undefined')
  expect(place('<testcase file="a" line="7"/>')).toBe('a:7')
  expect(place('<testcase file="a" line="0"/>', 'name="pytest"')).toBe('a:1')
  expect(place(`<testcase>${failure}</testcase>`)).toBe('/b/test/x.js:3')
})

test.each([
  ['2026-11-30T21:05:48Z', 1_796_072_748_000_000_000n],
  ['2026-11-30T21:05:48', 1_796_072_748_000_000_000n],
  ['2026-11-30T22:05:48.25+01:00', 1_796_072_748_250_000_000n],
  ['1970-01-01T00:00:00', undefined],
  ['yesterday', undefined],
])('the timestamp %s', (timestamp, startNs) => {
  expect(readText(suite('', `name="s" timestamp="${timestamp}"`)).entries).toMatchObject([{ startNs }])
})

test.each([
  ['1.5', 1_500_000_000n],
  ['1,234.5', 1_234_500_000_000n],
  ['-1', 0n],
  ['NaN', 0n],
  ['1e99', 31_536_000_000_000_000n],
])('the duration %s', (time, durationNs) => {
  expect(readCases(suite(`<testcase time="${time}"/>`))).toMatchObject([{ durationNs }])
})

describe('encodings', () => {
  const text = suite('<testcase name="é€"/>')
  const name = (bytes: Uint8Array) => [...casesIn(readText(bytes).entries)][0]?.name
  const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${text}`

  test('are those of the mark or the declaration', () => {
    expect(name(Buffer.from(declared('UTF-8')))).toBe('é€')
    expect(name(Buffer.from(`\ufeff${text}`))).toBe('é€')
    expect(name(Buffer.from(`\ufeff${declared('utf-16')}`, 'utf16le'))).toBe('é€')
    expect(name(Buffer.from(declared('utf-16'), 'utf16le'))).toBe('é€')
    expect(name(Buffer.from(declared('windows-1252').replace('é€', '\xe9\x80'), 'latin1'))).toBe('é€')
  })

  test('are refused if they are unknown', () => {
    expect(() => readText(declared('x-none'))).toThrow('the encoding x-none is unknown; write the report in UTF-8')
  })
})

test('references to control characters stay as they are', () => {
  expect(readCases(suite('<testcase name="a&#27;[0m&#x1B;&amp;"/>'))).toMatchObject([{ name: 'a&#27;[0m&#x1B;&' }])
})

describe('refuses', () => {
  test.each([
    ['', 'it is not a JUnit report: it has no element'],
    ['<html/>', 'it is not a JUnit report: its first element must be testsuites or testsuite'],
    ['{"a":1}', 'line 1: Non-whitespace before first tag'],
    ['<testsuite>\n<testcase></testsuite>', 'line 2: Unexpected close tag'],
    ['<testsuite>', 'line 1: Unclosed root tag'],
    ['<testsuite a=1/>', 'line 1: Unquoted attribute value'],
    ['<testsuite><testcase name="&lol;"/></testsuite>', 'line 1: Invalid character entity'],
    [
      '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;">]><testsuite name="&lol1;"/>',
      'line 1: a DOCTYPE with declarations, such as entities, is not allowed',
    ],
    [
      '<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><testsuite/>',
      'line 1: a DOCTYPE with declarations, such as entities, is not allowed',
    ],
    ['<testsuite>'.repeat(100_000), 'line 1: elements are nested more than 64 deep'],
    [
      `<testsuite ${Array.from({ length: 200 }, (_, at) => `a${at}="1"`).join(' ')}/>`,
      'line 1: an element has more than 100 attributes',
    ],
  ])('%.40s', (text, message) => {
    expect(() => readText(text)).toThrow(new TestReportError(message))
  })

  test('an attribute of 100 MB long before its end', () => {
    const reader = new TestReportReader()
    reader.write(Buffer.from('<testsuite name="'))
    const piece = Buffer.alloc(64 * 1024, 'a')
    let pieces = 0
    expect(() => {
      for (; pieces < 1_600; pieces += 1) reader.write(piece)
    }).toThrow('line 1: a tag, an attribute or a DOCTYPE is longer than 1048576 characters')
    expect(pieces).toBeLessThan(40)
  })

  test('more bytes, suites and cases than the limits', () => {
    const limits = { ...defaultTestReportLimits, maxBytes: 1024 * 1024, maxCases: 2, maxSuites: 2 }
    expect(() => readText(Buffer.alloc(1024 * 1024 + 1, ' '), limits)).toThrow('it is longer than 1 MiB')
    expect(() => readText(suite('<testcase/>'.repeat(3)), limits)).toThrow('it has more than 2 cases')
    expect(() => readText(suite(suite('') + suite('')), limits)).toThrow('it has more than 2 suites')
  })
})

test('a DOCTYPE without declarations is ignored', () => {
  expect(outcomes(`<!DOCTYPE testsuite SYSTEM "junit.dtd">${suite('<testcase name="a"/>')}`)).toEqual(['a 1 passed'])
})

test('any text results in a report or a clear error, however it is split', () => {
  const names = [
    'testsuites',
    'testsuite',
    'testcase',
    'failure',
    'skipped',
    'flakyFailure',
    'rerunError',
    'stackTrace',
    'x',
  ]
  const token = fc.oneof(
    fc
      .constantFrom(...names)
      .chain((name) => fc.constantFrom(`<${name}>`, `</${name}>`, `<${name}/>`, `<${name} name="a" time="1">`)),
    fc.constantFrom(
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<!DOCTYPE a [',
      ']>',
      '<?xml version="1.0"?>',
      '&#27;',
      '&amp;',
      '&x;',
      '"',
      '=',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  const result = (read: () => unknown) => {
    try {
      return read()
    } catch (error) {
      if (error instanceof TestReportError) return error.message
      throw error
    }
  }
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), fc.integer({ min: 1, max: 300 }), (tokens, size) => {
      const bytes = Buffer.from(`<testsuite>${tokens.join('')}</testsuite>`)
      const whole = result(() => readText(bytes))
      const split = result(() => {
        const reader = new TestReportReader()
        for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size))
        return reader.end()
      })
      expect(split).toEqual(whole)
    }),
  )
})
