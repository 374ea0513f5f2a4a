import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_FAILURE_BYTES, MAX_STEPS } from '../record/limits.ts'
import { type JobLog, JobLogReader } from './job-log.ts'

const logs = join(import.meta.dirname, '../../../../fixtures/job-logs')
const read = (...chunks: readonly (Uint8Array | string)[]): JobLog => {
  const reader = new JobLogReader()
  for (const chunk of chunks) reader.add(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return reader.end()
}
const start = (name: string, second = 1) => `section_start:${second}:${name}\r\u001b[0K`
const end = (name: string, second = 2) => `section_end:${second}:${name}\r\u001b[0K`
const names = ({ sections }: JobLog) => sections.map(({ name }) => name)

describe('sections', () => {
  test('the end of a section ends the sections that are open in it', () => {
    const { sections } = read(start('a'), start('b', 2), end('a', 3), end('b', 9))
    expect(sections.map(({ finishedAtNs }) => finishedAtNs)).toEqual([3_000_000_000n, 3_000_000_000n])
  })

  test('of one name are different: an end is that of the innermost', () => {
    const { sections } = read(start('a'), start('a', 2), end('a', 3), end('a', 4))
    expect(sections.map(({ finishedAtNs, section }) => [finishedAtNs, section?.parent])).toEqual([
      [4_000_000_000n, undefined],
      [3_000_000_000n, 1],
    ])
  })

  test('a title is the text after the marker, also if the line continues; the next line is none', () => {
    const { sections } = read(`${start('a')}\u001b[1mBuild \u001b[0mit\n${start('b')}\nnot a title\n`)
    expect(sections.map(({ section }) => section?.title)).toEqual(['Build it', undefined])
  })

  test('a marker without a possible time gets the time of the one before', () => {
    const { sections } = read(start('a', 7), start('b', 0), start('c', 99_999_999_999))
    expect(sections.map(({ startedAtNs }) => startedAtNs)).toEqual([7_000_000_000n, 7_000_000_000n, 7_000_000_000n])
  })

  test(`are at most ${MAX_STEPS}; titles of others do not replace theirs`, () => {
    const log = read(
      ...Array.from({ length: MAX_STEPS + 3 }, (_, at) => `${start(`s${at}`)}title ${at}\n${end(`s${at}`)}\n`),
    )
    expect(log.sections).toHaveLength(MAX_STEPS)
    expect(log.sections.at(-1)?.section?.title).toBe(`title ${MAX_STEPS - 1}`)
    expect(log.droppedSections).toBe(3)
  })

  test('a marker that a program prints without erasing its line is text', () => {
    expect(names(read('section_start:1:a\nsection_start:1:b\rtext\n', 'section_start:1:c\r'))).toEqual([])
  })
})

describe('failing lines', () => {
  const failure = (text: string) => read(text).failure
  const lines = (text: string) => failure(text)?.lines.split('\n') ?? []

  test('a log without text has none', () => expect(failure('\n\r\n\u001b[0m\n')).toBeUndefined())

  test('begin three lines before the first error, or with the last 20 lines', () => {
    const text = Array.from({ length: 100 }, (_, at) => `line ${at}\n`)
    text[40] = 'error: no juice\n'
    expect(lines(text.join(''))[0]).toBe('line 37')
    text[40] = 'line 40\n'
    text[95] = 'error: no juice\n'
    expect(lines(text.join(''))[0]).toBe('line 80')
    text[95] = 'line 95\n'
    expect(lines(text.join(''))[0]).toBe('line 50')
  })

  test('are at most 16 KiB, and a long line is cut', () => {
    const text = `error: it failed\n${`${'ä'.repeat(90)} ${'b '.repeat(300)}\n`.repeat(100)}${'c '.repeat(5_000)}\n`
    const found = failure(text)?.lines ?? ''
    expect(Buffer.byteLength(found)).toBeLessThanOrEqual(MAX_FAILURE_BYTES)
    expect(found.split('\n').at(-1)).toMatch(/^(?:c )+…$/)
  })

  test('leave out what runs after the script', () => {
    const text = `${start('step_script')}\nerror: juice\n${end('step_script')}${start('after_script')}\nerror: other\n${end('after_script')}\nERROR: Job failed: exit code 1\n`
    expect(lines(text)).toEqual(['error: juice', 'ERROR: Job failed: exit code 1'])
  })
})

describe('the fingerprint', () => {
  const fingerprint = (text: string) => read(text).failure?.fingerprint
  const first =
    '2026-02-03 04:05:06 error: job 4711 of /tmp/tmp.aB3x/out failed after 2.5s\n/builds/Kq3xLm7Ab/0/orchard/press/a.c:12:9: error: juice\nERROR: Job failed: exit code 1\n'

  test('is the same in another run', () => {
    const second = first
      .replace('04:05:06', '16:07:08')
      .replace('4711', '9')
      .replace('tmp.aB3x', 'tmp.Zz9')
      .replace('2.5s', '11 minutes')
      .replace('Kq3xLm7Ab/0', 'Zt9bQ2wEx/3')
      .replace('error: juice', '\u001b[31merror\u001b[0m: juice')
    expect(fingerprint(`some other output\n${second}`)).toBe(fingerprint(first))
  })

  test('does not depend on the order of failures', () => {
    const failures = ['FAIL a.test.ts', 'FAIL b.test.ts', 'error: juice']
    expect(fingerprint(failures.toReversed().join('\n'))).toBe(fingerprint(failures.join('\n')))
  })

  test.each([
    ['juice', 'cider'],
    ['a.c', 'b.c'],
  ])('is another one for another failure: %s and %s', (from, to) => {
    expect(fingerprint(first.replace(from, to))).not.toBe(fingerprint(first))
  })

  test('distinguishes the codes of errors', () => {
    expect(fingerprint('error TS2304: no\n')).not.toBe(fingerprint('error TS2345: no\n'))
  })
})

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      '\u001b[0K',
      '\u001b[31m',
      'error: x',
      '2026-02-03T04:05:06.123456Z 00O ',
      'ä😀',
    ),
    fc.constantFrom(
      '2026-02-03T04:05:06.123456Z 01E+',
      '-----BEGIN PRIVATE KEY-----',
      'after_script',
      '\u001b]8;;a\u0007',
    ),
    fc.tuple(fc.constantFrom('a', 'b', 'step_script', 'after_script'), fc.nat(9)).map(([name, at]) => start(name, at)),
    fc.tuple(fc.constantFrom('a', 'b', 'step_script', 'after_script'), fc.nat(9)).map(([name, at]) => end(name, at)),
    fc.string({ maxLength: 20 }),
  ),
  { maxLength: 60 },
)

describe('properties', () => {
  test('the ends of chunks never change the result', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(500), { maxLength: 8 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''))
        const ends = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
        const chunks = ends.slice(1).map((to, at) => bytes.subarray(ends[at], to))
        expect(read(...chunks)).toEqual(read(bytes))
      }),
    )
  })

  test.each(readdirSync(logs).filter((file) => file.endsWith('.log')))('%s is read alike byte by byte', (file) => {
    const bytes = readFileSync(join(logs, file))
    expect(read(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(read(bytes))
  })

  test('any bytes end in a result; a parent is a section before its own', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 2_000 }),
          pieces.map((parts) => Buffer.from(parts.join(''))),
        ),
        (bytes) => {
          const { sections, failure } = read(bytes)
          for (const [at, { section }] of sections.entries()) expect(section?.parent ?? 0).toBeLessThanOrEqual(at)
          expect(Buffer.byteLength(failure?.lines ?? '')).toBeLessThanOrEqual(MAX_FAILURE_BYTES)
        },
      ),
    )
  })
})

test('a log of 100 MB takes no more memory than a short one', { timeout: 60_000 }, () => {
  const reader = new JobLogReader()
  const parts = [
    `error: x ${'text '.repeat(40)}`,
    '\r',
    `${start('a')}`,
    'x'.repeat(900),
    '\u001b[31m',
    'é',
    '\u0000',
    'token=',
  ]
  const megabyte = Buffer.alloc(1_000_000)
  for (let at = 0, n = 0; at < megabyte.length; n++) at += megabyte.write(parts[(n * 5) % parts.length] ?? '', at) || 1
  const line = Buffer.from('\n')
  const before = process.memoryUsage().arrayBuffers
  for (let count = 0; count < 100; count++) {
    reader.add(megabyte)
    if (count % 10 === 9) reader.add(line)
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000)
  const { sections, failure } = reader.end()
  expect(JSON.stringify({ names: sections.map(({ name }) => name), failure }).length).toBeLessThan(100_000)
})
