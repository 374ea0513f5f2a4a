import { describe, expect, test } from 'vitest'
import { FastHeadReader, readFastHead } from './fast-head.ts'

const lines = ['Host: gateway', 'Content-Length: 3', 'Authorization: Bearer t']
const requestLine = 'POST /v1/traces HTTP/1.1'
const headOf = (...all: readonly string[]): Buffer => Buffer.from(`${all.join('\r\n')}\r\n\r\n`, 'latin1')
const read = (...more: readonly string[]) => readFastHead(headOf(requestLine, ...lines, ...more))

test('reads the head of an exporter, and ignores the body after it', () => {
  const head = headOf(requestLine, ...lines, 'User-Agent: \t an exporter \t')
  expect(readFastHead(Buffer.concat([head, Buffer.from('abc')]))).toEqual({
    path: '/v1/traces',
    rawHeaders: ['Host', 'gateway', 'Authorization', 'Bearer t', 'User-Agent', 'an exporter'],
    bodyBytes: 3,
    keepsAlive: true,
    headBytes: head.length,
    lengthStart: head.indexOf('3\r\n'),
    lengthEnd: head.indexOf('3\r\n') + 1,
  })
})

test.each([
  ['Connection: keep-alive', true],
  ['connection: Keep-Alive', true],
  ['Connection: close', false],
  ['Connection: Close', false],
])('P-28: %s', (line, keepsAlive) => {
  expect(read(line)?.keepsAlive).toBe(keepsAlive)
})

describe('P-28: leaves to node:http', () => {
  test.each([
    ['Transfer-Encoding: chunked'],
    ['transfer-encoding: identity'],
    ['Expect: 100-continue'],
    ['Upgrade: h2c'],
    ['Connection: upgrade'],
    ['Connection: close, x-a'],
    ['Proxy-Connection: keep-alive'],
    ['Trailer: x-a'],
    ['TE: trailers'],
    ['HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'],
    ['Content-Length: 3'],
    ['content-length: 4'],
    ['Host: gateway'],
    ['X-Empty:'],
    ['X-A : b'],
    ['X-A'],
    [': b'],
    [' folded'],
    ['X-A: b\nX-B: c'],
    ['X-A: b\rX-B: c'],
    ['X-A: \0'],
    ['X-A: \x7f'],
    ['X-A: \x80'],
    ['X(A): b'],
  ])('%j', (line) => {
    expect(read(line)).toBeUndefined()
  })

  test.each(['', '-1', '+3', '03', '3.0', '3,3', '3 3', '0x3', '3 ', '3\t', '1234567890123456'])(
    'the length %j',
    (length) => {
      expect(readFastHead(headOf(requestLine, 'Host: a', `Content-Length: ${length}`))).toBeUndefined()
    },
  )

  test.each([
    'POST /v1/traces HTTP/1.0',
    'POST /v1/traces HTTP/2.0',
    'POST /v1/traces  HTTP/1.1',
    'POST  /v1/traces HTTP/1.1',
    'POST /v1/traces?a=b HTTP/1.1',
    'POST /v1/%74races HTTP/1.1',
    'POST http://gateway/v1/traces HTTP/1.1',
    'POST v1/traces HTTP/1.1',
    'post /v1/traces HTTP/1.1',
    'GET /v1/traces HTTP/1.1',
    '\r\nPOST /v1/traces HTTP/1.1',
  ])('%j', (line) => {
    expect(readFastHead(headOf(line, ...lines))).toBeUndefined()
  })

  test('a head without Host or Content-Length', () => {
    expect(readFastHead(headOf(requestLine, 'Content-Length: 3'))).toBeUndefined()
    expect(readFastHead(headOf(requestLine, 'Host: a'))).toBeUndefined()
  })

  test('every part of a head', () => {
    const head = headOf(requestLine, ...lines)
    for (let length = 0; length < head.length; length += 1) {
      expect(readFastHead(head.subarray(0, length))).toBeUndefined()
    }
  })

  test('a head that is longer than 8 KiB, or has more than 32 headers', () => {
    const long = (bytes: number) => read(`X-Long: ${'a'.repeat(bytes)}`)
    const shortest = headOf(requestLine, ...lines, 'X-Long: ').length
    expect(long(8_192 - shortest)?.headBytes).toBe(8_192)
    expect(long(8_193 - shortest)).toBeUndefined()
    const fillers = (count: number) => Array.from({ length: count }, (_, index) => `x-${index}: a`)
    expect(read(...fillers(32 - lines.length))).toBeDefined()
    expect(read(...fillers(33 - lines.length))).toBeUndefined()
  })
})

describe('FastHeadReader', () => {
  const withLength = (length: string, token = 't') =>
    headOf(requestLine, 'Host: gateway', `Content-Length: ${length}`, `Authorization: Bearer ${token}`)

  test('returns the same headers for a head that differs in its length only', () => {
    const reader = new FastHeadReader()
    const first = reader.read(withLength('3'))
    for (const length of ['3', '7', '12345', '0', '123456789012345']) {
      const again = reader.read(Buffer.concat([withLength(length), Buffer.from('123')]))
      expect(again?.rawHeaders).toBe(first?.rawHeaders)
      const { bodyBytes, headBytes } = readFastHead(withLength(length))!
      expect(again).toMatchObject({ bodyBytes, headBytes })
    }
  })

  test('reads a head that differs elsewhere', () => {
    const reader = new FastHeadReader()
    reader.read(withLength('3'))
    expect(reader.read(withLength('3', 'u'))?.rawHeaders).toContain('Bearer u')
    expect(reader.read(withLength('3'))?.rawHeaders).toContain('Bearer t')
  })

  test.each(['', '03', '1234567890123456', '3 ', '+3', '3\r\nContent-Length: 4'])(
    'P-28: leaves a repeated head with the length %j to node:http',
    (length) => {
      const reader = new FastHeadReader()
      reader.read(withLength('3'))
      expect(reader.read(withLength(length))).toBeUndefined()
    },
  )

  test('leaves a part of a repeated head to node:http', () => {
    const reader = new FastHeadReader()
    const head = withLength('3')
    reader.read(head)
    for (let length = 0; length < head.length; length += 1) {
      expect(reader.read(head.subarray(0, length))).toBeUndefined()
    }
  })
})
