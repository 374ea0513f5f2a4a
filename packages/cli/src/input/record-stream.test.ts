import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { InputFile } from './input-files.ts'
import { type Reading, readBodies } from './record-stream.ts'

interface Given {
  readonly bytes?: number
  readonly ndjson?: boolean
  readonly maxDocumentBytes?: number
}

async function readAll(content: string | Buffer, given: Given = {}): Promise<string[]> {
  const { bytes, ndjson = false, maxDocumentBytes = 1_000 } = given
  const open = () => Readable.from([Buffer.from(content)])
  const file: InputFile = { name: 'x', bytes, ndjson, open }
  const all: string[] = []
  for await (const reading of readBodies(file, { maxDocumentBytes })) all.push(textOf(reading))
  return all
}

function textOf(reading: Reading): string {
  const { line, index } = reading.place
  const place = `${line === undefined ? '' : `line ${line} `}${index === undefined ? '' : `[${index}] `}`
  if (reading.kind === 'body') return place + JSON.stringify(reading.body)
  const { reason, line: atLine, column } = reading.error
  return `${place}${atLine === undefined ? '' : `${atLine}:${column} `}${reason}`
}

describe('one document', () => {
  test.each([
    { text: '{"a":1}', readings: ['line 1 {"a":1}'] },
    { text: '{\n"a":1\n}', readings: ['{"a":1}'] },
    { text: '[{"a":1},\n{"b":2}]', readings: ['[0] {"a":1}', '[1] {"b":2}'] },
    { text: '[{"a":1},{"b":2}]', readings: ['line 1 [0] {"a":1}', 'line 1 [1] {"b":2}'] },
    { text: '[[{"a":1}],\n[{"b":2},{"c":3}],[]]', readings: ['[0] {"a":1}', '[1] {"b":2}', '[1] {"c":3}'] },
    {
      text: 'HTTP/2 200\r\n\r\n{}',
      readings: ['begins with the headers of an HTTP answer, not with JSON; save its body alone'],
    },
    { text: '[\n]', readings: [] },
    { text: '', readings: ['contains no record'] },
    { text: ' \r\n\t\n', readings: ['contains no record'] },
    { text: '\ufeff', readings: ['contains no record'] },
    { text: '\n\n{\n"a":1,\n}', readings: ['5:1 is not valid JSON'] },
    { text: '{\n"a":', readings: ['2:5 ends before the JSON is complete'] },
    {
      text: '<html>\n<body>\n</html>',
      readings: ['is HTML or XML, not JSON; it may be the error page of a server or a proxy'],
    },
  ])('$text', async ({ text, readings }) => {
    expect(await readAll(text)).toEqual(readings)
  })

  test('in another encoding', async () => {
    expect(await readAll(Buffer.from('{"a":"\u00e9"}', 'latin1'))).toEqual(['is not JSON in UTF-8'])
  })
})

describe('NDJSON', () => {
  test.each([
    { text: '{"a":1}\n{"b":2}', readings: ['line 1 {"a":1}', 'line 2 {"b":2}'] },
    { text: '\n{"a":1}\r\n\r\n{"b":2}\r\n', readings: ['line 2 {"a":1}', 'line 4 {"b":2}'] },
    {
      text: '{"a":1}\n{"b":\n{"c":3}',
      readings: ['line 1 {"a":1}', 'line 2 2:6 ends before the JSON is complete', 'line 3 {"c":3}'],
    },
    {
      text: '{"a":\n{"b":2}\n{"c":3}',
      readings: ['line 1 1:6 ends before the JSON is complete', 'line 2 {"b":2}', 'line 3 {"c":3}'],
    },
    {
      text: '[{"a":1}]\n[{"b":2},{"c":3}]',
      readings: ['line 1 [0] {"a":1}', 'line 2 [0] {"b":2}', 'line 2 [1] {"c":3}'],
    },
  ])('$text', async ({ text, readings }) => {
    expect(await readAll(text)).toEqual(readings)
  })

  test('is recognised by its name if the first line does not decide', async () => {
    const text = 'nonsense\n"more"\n{"a":1}'
    expect(await readAll(text, { ndjson: true })).toEqual([
      'line 1 1:2 is not valid JSON',
      'line 2 "more"',
      'line 3 {"a":1}',
    ])
    expect(await readAll(text)).toEqual(['1:2 is not valid JSON'])
  })

  test('may be longer than one document', async () => {
    const text = '{"a":1}\n'.repeat(500)
    expect(await readAll(text, { bytes: text.length })).toHaveLength(500)
  })

  test('a document of one line is read completely from pieces of any length', async () => {
    const text = `[${'{"a":1},'.repeat(50)}{"b":2}]`
    const file: InputFile = {
      name: 'x',
      bytes: undefined,
      ndjson: false,
      open: () => Readable.from(Buffer.from(text), { objectMode: false, highWaterMark: 3 }),
    }
    const readings: Reading[] = []
    for await (const reading of readBodies(file, { maxDocumentBytes: 1_000 })) readings.push(reading)
    expect(readings).toHaveLength(51)
  })
})

describe('limits', () => {
  const limit = /^is longer than 1,000 bytes/

  test('a document of one line', async () => {
    expect(await readAll(`{"a":"${'x'.repeat(2_000)}"}`)).toEqual([expect.stringMatching(limit)])
  })

  test('a document of several lines', async () => {
    expect(await readAll(`{\n"a":"${'x'.repeat(2_000)}"}`)).toEqual([expect.stringMatching(limit)])
  })

  test('a line of NDJSON', async () => {
    const text = `{"a":1}\n{"b":"${'x'.repeat(2_000)}"}\n{"c":3}`
    expect(await readAll(text)).toEqual([
      'line 1 {"a":1}',
      expect.stringMatching(/^line 2 is longer than 1,000 bytes/),
      'line 3 {"c":3}',
    ])
  })

  test('a file that is known to be too long is closed after its first line', async () => {
    let read = 0
    let closed = false
    async function* endless() {
      try {
        yield Buffer.from('{\n')
        for (; ; read += 1) yield Buffer.alloc(65_536, ' ')
      } finally {
        closed = true
      }
    }
    const file: InputFile = {
      name: 'x',
      bytes: 100_000_000,
      ndjson: false,
      open: () => Readable.from(endless(), { highWaterMark: 1 }),
    }
    const readings: Reading[] = []
    for await (const reading of readBodies(file, { maxDocumentBytes: 1_000 })) readings.push(reading)
    expect(readings.map(textOf)).toEqual([expect.stringMatching(limit)])
    expect(read).toBeLessThan(5)
    expect(closed).toBe(true)
  })
})

test('a system error is reported with its reason', async () => {
  const broken = () =>
    Readable.from(
      (async function* (): AsyncGenerator<Buffer> {
        yield Buffer.from('{"a":1}\n')
        throw Object.assign(new Error('EIO: i/o error, read'), { errno: -5, code: 'EIO' })
      })(),
    )
  const readings: Reading[] = []
  const file: InputFile = { name: 'x', bytes: undefined, ndjson: false, open: broken }
  for await (const reading of readBodies(file, { maxDocumentBytes: 1_000 })) readings.push(reading)
  expect(readings.map(textOf)).toEqual(['line 1 {"a":1}', 'cannot be read: i/o error'])
})
