import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodingOf, HeadReader } from './http-headers.ts'

const reader = new HeadReader({ credentialSources: [], passCredentialThrough: false })
const read = (...rawHeaders: string[]) => reader.read(rawHeaders, undefined)

test('P-17: forwards unknown headers in order with lower-case names', () => {
  const { forwarded } = read('X-Trace', 'a', 'Cookie', 'b=c', 'x-trace', 'd', 'User-Agent', 'sdk')
  expect(forwarded).toEqual(['x-trace', 'a', 'cookie', 'b=c', 'x-trace', 'd', 'user-agent', 'sdk'])
})

test.each([
  'Authorization',
  'Connection',
  'Keep-Alive',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'HTTP2-Settings',
  'Expect',
  'Host',
  'Content-Length',
  'Content-Type',
  'Content-Encoding',
  'Accept-Encoding',
  ':path',
  'X-Ingest-Token-Id',
  'x-ingest-auth',
  'X-INGEST-anything',
  'x_ingest_token_id',
  'X-Scope-OrgID',
  'x_scope_orgid',
  'x.ingest.auth',
  'X.Ingest-Token_Id',
  'x~ingest!auth',
  'X.Scope.OrgID',
  'proxy.authorization',
  'content_length',
  'Transfer_Encoding',
])('P-17, X-9, X-10: %s does not reach upstream', (name) => {
  expect(read(name, '1', 'kept', '2').forwarded).toEqual(['kept', '2'])
})

test('P-17: does not forward headers that Connection names, wherever they are', () => {
  expect(read('x-a', '1', 'Connection', 'close, X-A', 'x-b', '2', 'connection', ' x-c ', 'X-C', '3').forwarded).toEqual(
    ['x-b', '2'],
  )
})

test('X-9: forwards Authorization only if configured, and other credentials never', () => {
  const passing = new HeadReader({ credentialSources: ['x-api-key'], passCredentialThrough: true })
  expect(passing.read(['Authorization', 'Bearer a'], undefined).forwarded).toEqual(['authorization', 'Bearer a'])
  expect(passing.read(['X-Api-Key', 'a'], undefined)).toMatchObject({
    forwarded: [],
    credential: { kind: 'bearer', value: 'a', from: 'header' },
  })
})

test('X-9: a credential in another spelling neither reaches upstream nor counts', () => {
  const keyed = new HeadReader({ credentialSources: ['x-api-key'], passCredentialThrough: true })
  const { forwarded, credential } = keyed.read(['X_Api_Key', 'a', 'x.api.key', 'b', 'kept', '2'], undefined)
  expect([forwarded, credential]).toEqual([['kept', '2'], { kind: 'none' }])
})

test('reads all fields of the request head in one pass', () => {
  expect(
    read(
      ...['Host', 'h', 'Authorization', 'Bearer t', 'Content-Type', 'Application/JSON; charset=utf-8'],
      ...[
        'Content-Encoding',
        ' GZIP',
        'Content-Length',
        '17',
        'Expect',
        '100-Continue',
        'Origin',
        'https://a',
        'User-Agent',
        'sdk',
      ],
    ),
  ).toEqual({
    forwarded: ['origin', 'https://a', 'user-agent', 'sdk'],
    credential: { kind: 'bearer', value: 't', from: 'header' },
    encoding: 'json',
    contentEncoding: 'gzip',
    declaredBytes: 17,
    expectsContinue: true,
    hosts: 1,
    transferCodings: '',
    origin: 'https://a',
    userAgent: 'sdk',
  })
})

describe('P-4: media types are compared without case and parameters', () => {
  test.each([
    ['application/x-protobuf', 'protobuf'],
    ['Application/X-Protobuf ; v=1', 'protobuf'],
    ['application/json', 'json'],
    ['application/json;charset=UTF-8', 'json'],
    ['application/protobuf', undefined],
    ['text/json', undefined],
    ['', undefined],
  ])('%j', (contentType, encoding) => {
    expect(encodingOf(contentType)).toBe(encoding)
  })

  test('rejects two content types', () => {
    expect(read('content-type', 'application/json', 'content-type', 'application/json').encoding).toBeUndefined()
  })
})

test.each([
  [[], ''],
  [['identity'], ''],
  [['x-gzip'], 'gzip'],
  [['Zstd'], 'zstd'],
  [['gzip', 'gzip'], 'gzip, gzip'],
])('P-7: reads content encodings %j as %j', (values, coding) => {
  expect(read(...values.flatMap((value) => ['content-encoding', value])).contentEncoding).toBe(coding)
})

test('X-10: drops every spelling of a reserved name, also when the name cache is full', () => {
  const flooded = new HeadReader({ credentialSources: [], passCredentialThrough: false })
  for (let index = 0; index < 2_000; index += 1) flooded.read([`x-${index}`, ''], undefined)
  const spellings = fc
    .constantFrom('x-ingest-token-id', 'x-ingest-auth', 'x-scope-orgid', 'authorization')
    .chain((name) =>
      fc
        .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
        .map((upper) => [...name].map((letter, at) => (upper[at] ? letter.toUpperCase() : letter)).join('')),
    )
  fc.assert(
    fc.property(spellings, (name) => {
      expect(flooded.read([name, 'v', 'kept', 'w'], undefined).forwarded).toEqual(['kept', 'w'])
    }),
  )
})
