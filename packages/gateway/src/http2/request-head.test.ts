import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areTrailers, readHttp2Head, withOtherTimeout } from './request-head.ts'

const method = [':method', 'POST']
const scheme = [':scheme', 'https']
const path = [':path', '/v1/traces']
const authority = [':authority', 'gateway']
const pseudo = [...method, ...scheme, ...authority, ...path]

test('reads a head', () => {
  const fields = [
    ...pseudo,
    'content-type',
    'application/grpc',
    'grpc-timeout',
    '1S',
    'grpc-encoding',
    'gzip',
    'content-length',
    '12',
    'te',
    'Trailers',
    'x-empty',
    '',
    'x-bytes',
    'a\tb \xff',
  ]
  expect(readHttp2Head(fields)).toEqual({
    rawHeaders: fields,
    method: 'POST',
    path: '/v1/traces',
    contentType: 'application/grpc',
    grpcTimeout: '1S',
    grpcEncoding: 'gzip',
    contentLength: 12,
    interpreted: undefined,
  })
})

test('uses the first of repeated fields', () => {
  const fields = ['content-type', 'a', 'content-type', 'b', 'grpc-timeout', '1S', 'grpc-timeout', '2S']
  expect(readHttp2Head([...pseudo, ...fields])).toMatchObject({ contentType: 'a', grpcTimeout: '1S' })
})

test.each<[string, readonly string[]]>([
  ['pseudo-headers in another order', [...path, ...authority, ...scheme, ...method]],
  ['host instead of :authority', [...method, ...scheme, ...path, 'host', 'gateway']],
  ['the path *', [...method, ...scheme, ...authority, ':path', '*']],
  ['CONNECT', [':method', 'CONNECT', ':authority', 'a:443']],
])('accepts a head with %s', (_, fields) => {
  expect(readHttp2Head(fields)).toBeDefined()
})

test('CONNECT has no path', () => {
  expect(readHttp2Head([':method', 'CONNECT', ':authority', 'a:443'])?.path).toBe('')
})

describe('refuses a head with', () => {
  const withField = (name: string, value: string): [string, string[]] => [
    `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
    [...pseudo, name, value],
  ]

  test.each<[string, readonly string[]]>([
    ['no fields', []],
    ['no :method', [...scheme, ...authority, ...path]],
    ['no :scheme', [...method, ...authority, ...path]],
    ['no :path', [...method, ...scheme, ...authority]],
    ['an empty :path', [...method, ...scheme, ...authority, ':path', '']],
    ['a :path without a slash', [...method, ...scheme, ...authority, ':path', 'v1']],
    ['a blank in :path', [...method, ...scheme, ...authority, ':path', '/v1 /traces']],
    ['neither :authority nor host', [...method, ...scheme, ...path]],
    ['two :method', [...method, ...pseudo]],
    ['two :path', [...path, ...pseudo]],
    ['two :authority', [...authority, ...pseudo]],
    ['two :scheme', [...scheme, ...pseudo]],
    ['a pseudo-header after a field', [...method, ...scheme, 'x-a', 'b', ...path]],
    ['a pseudo-header of answers', [...pseudo, ':status', '200']],
    ['an unknown pseudo-header', [...pseudo, ':a', 'b']],
    ['a pseudo-header without a name', [...pseudo, ':', 'b']],
    ['extended CONNECT', [':method', 'CONNECT', ':protocol', 'websocket', ...scheme, ...path, ...authority]],
    ['CONNECT and a path', [':method', 'CONNECT', ...authority, ...path]],
    ['CONNECT and a scheme', [':method', 'CONNECT', ...authority, ...scheme]],
    ['CONNECT without :authority', [':method', 'CONNECT']],
    ['a pseudo-header in upper case', [':Method', 'POST', ...scheme, ...path]],
    ['LF in :path', [...method, ...scheme, ':path', '/\nx']],
    ['a blank at the end of :path', [...method, ...scheme, ':path', '/ ']],
    ['a blank at the beginning of :authority', [...method, ...scheme, ...path, ':authority', ' a']],
    withField('X-a', 'b'),
    withField('x-A', 'b'),
    withField('', 'b'),
    withField('x a', 'b'),
    withField('x:a', 'b'),
    withField('x\0', 'b'),
    withField('x\r', 'b'),
    withField('x\xe9', 'b'),
    withField('x-a', 'b\0c'),
    withField('x-a', 'b\rc'),
    withField('x-a', 'b\nc'),
    withField('x-a', 'b\r\nc: d'),
    withField('x-a', 'b\x7f'),
    withField('x-a', '\x01'),
    withField('x-a', ' b'),
    withField('x-a', 'b '),
    withField('x-a', '\tb'),
    withField('x-a', 'b\t'),
    withField('x-a', ' '),
    withField('connection', 'close'),
    withField('connection', 'te'),
    withField('keep-alive', '1'),
    withField('proxy-connection', 'close'),
    withField('transfer-encoding', 'chunked'),
    withField('upgrade', 'h2c'),
    withField('te', 'gzip'),
    withField('te', 'trailers, gzip'),
    withField('te', ''),
    withField('content-length', ''),
    withField('content-length', '-1'),
    withField('content-length', '+1'),
    withField('content-length', '0x1'),
    withField('content-length', '1, 1'),
    withField('content-length', '1.0'),
    withField('content-length', '1234567890123456'),
    ['two content-length', [...pseudo, 'content-length', '1', 'content-length', '1']],
  ])('%s', (_, fields) => {
    expect(readHttp2Head(fields)).toBeUndefined()
  })
})

test('accepts every byte of a value that RFC 9113 allows, and no other', () => {
  for (let byte = 0; byte < 256; byte += 1) {
    const isAllowed = byte === 9 || (byte >= 0x20 && byte !== 0x7f)
    const value = `a${String.fromCharCode(byte)}b`
    expect([byte, readHttp2Head([...pseudo, 'x', value]) !== undefined]).toEqual([byte, isAllowed])
  }
})

test('accepts every byte of a name that RFC 9110 allows in lower case, and no other', () => {
  for (let byte = 0; byte < 256; byte += 1) {
    const char = String.fromCharCode(byte)
    const isAllowed = /^[a-z0-9!#$%&'*+\-.^_`|~]$/.test(char)
    expect([byte, readHttp2Head([...pseudo, `x${char}`, '']) !== undefined]).toEqual([byte, isAllowed])
    expect([byte, areTrailers([`x${char}`, ''])]).toEqual([byte, isAllowed])
  }
})

test.each<[readonly string[], boolean]>([
  [[], true],
  [['grpc-status', '0'], true],
  [['x', ''], true],
  [[':path', '/'], false],
  [['X', ''], false],
  [['x', 'a\n'], false],
  [['x', ' a'], false],
  [['content-length', '1'], false],
  [['connection', 'close'], false],
])('trailers %j: %s', (fields, isValid) => {
  expect(areTrailers(fields)).toBe(isValid)
})

describe('a repeated head', () => {
  const head = readHttp2Head([...pseudo, 'grpc-timeout', '1S', 'x', 'y'])!

  test('is used again if it is the same', () => {
    expect(withOtherTimeout(head, [...head.rawHeaders])).toBe(head)
  })

  test('may have another timeout', () => {
    const fields = [...pseudo, 'grpc-timeout', '2S', 'x', 'y']
    expect(withOtherTimeout(head, fields)).toEqual(readHttp2Head(fields))
  })

  test('keeps the first of two timeouts', () => {
    const twice = readHttp2Head([...pseudo, 'grpc-timeout', '1S', 'grpc-timeout', '2S'])!
    const fields = [...pseudo, 'grpc-timeout', '1S', 'grpc-timeout', '3S']
    expect(withOtherTimeout(twice, fields)?.grpcTimeout ?? '1S').toBe('1S')
  })

  test.each<[string, readonly string[]]>([
    ['another value', [...pseudo, 'grpc-timeout', '1S', 'x', 'z']],
    ['another name', [...pseudo, 'grpc-timeout', '1S', 'y', 'y']],
    ['another order', [...pseudo, 'x', 'y', 'grpc-timeout', '1S']],
    ['no timeout', [...pseudo, 'x', 'y']],
    ['a further field', [...pseudo, 'grpc-timeout', '1S', 'x', 'y', 'a', 'b']],
    ['another timeout and value', [...pseudo, 'grpc-timeout', '2S', 'x', 'z']],
    ['an invalid timeout', [...pseudo, 'grpc-timeout', '2S\n', 'x', 'y']],
  ])('with %s is not', (_, fields) => {
    expect(withOtherTimeout(head, fields)).toBeUndefined()
  })

  test('is read in the same way as one that is not repeated', () => {
    const value = fc.constantFrom('1S', '2S', '', ' ', '1', 'a\n', 'trailers')
    const name = fc.constantFrom('grpc-timeout', 'te', 'x', 'content-length', 'content-type')
    const fields = fc.array(fc.tuple(name, value), { maxLength: 4 })
    const changed = fields.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.tuple(...list.map(([key, old]) => fc.tuple(fc.constant(key), fc.oneof(fc.constant(old), value)))),
      ),
    )
    fc.assert(
      fc.property(changed, ([before, after]) => {
        const known = readHttp2Head([...pseudo, ...before.flat()])
        const next = [...pseudo, ...after.flat()]
        const repeated = known && withOtherTimeout(known, next)
        if (repeated === undefined) return
        expect({ ...repeated, rawHeaders: next }).toEqual(readHttp2Head(next))
      }),
      { numRuns: 2_000 },
    )
  })
})
