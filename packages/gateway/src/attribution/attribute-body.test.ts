import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { TokenRecord } from '../contract/token-record.ts'
import { type AttributionInput, attributeBody } from './attribute-body.ts'

const token = { id: 'id', name: 'n' } as TokenRecord
const emptyGroup = Buffer.from([0x0a, 0])
/** One ResourceSpans that has a Resource with both attributes. */
const attributedGroup = Buffer.concat([
  Buffer.from([0x0a, 0x35, 0x0a, 0x33]),
  Buffer.from([0x0a, 0x17, 0x0a, 0x0f]),
  Buffer.from('ingest.token.id'),
  Buffer.from([0x12, 0x04, 0x0a, 0x02]),
  Buffer.from('id'),
  Buffer.from([0x0a, 0x18, 0x0a, 0x11]),
  Buffer.from('ingest.token.name'),
  Buffer.from([0x12, 0x03, 0x0a, 0x01]),
  Buffer.from('n'),
])

const attribute = (over: Partial<AttributionInput>, maxBytes = 1_000) =>
  attributeBody(
    { signal: 'traces', encoding: 'protobuf', contentEncoding: '', bytes: emptyGroup, ...over },
    token,
    maxBytes,
  )

test.each([
  { contentEncoding: '', bytes: emptyGroup },
  { contentEncoding: 'identity', bytes: emptyGroup },
  { contentEncoding: 'gzip', bytes: gzipSync(emptyGroup) },
  {
    contentEncoding: 'gzip',
    bytes: Buffer.concat([gzipSync(emptyGroup.subarray(0, 1)), gzipSync(emptyGroup.subarray(1))]),
  },
])('X-11: attributes a body with content encoding "$contentEncoding" and returns it uncompressed', async (body) => {
  expect(await attribute(body)).toEqual({ kind: 'attributed', bytes: attributedGroup, contentEncoding: '' })
})

test('X-11: attributes JSON as text', async () => {
  expect(await attribute({ encoding: 'json', signal: 'logs', bytes: Buffer.from('{"resourceLogs":[]}') })).toEqual({
    kind: 'attributed',
    bytes: Buffer.from('{"resourceLogs":[]}'),
    contentEncoding: '',
  })
})

test('X-11: returns profiles unchanged, compressed or not', async () => {
  const bytes = gzipSync('anything')
  expect(await attribute({ signal: 'profiles', contentEncoding: 'gzip', bytes })).toEqual({
    kind: 'attributed',
    bytes,
    contentEncoding: 'gzip',
  })
})

test.each([
  ['P-7: an unsupported content encoding', { contentEncoding: 'zstd' }, 'unsupported_media_type'],
  ['a body that is not protobuf', { bytes: Buffer.from('no telemetry') }, 'bad_body'],
  ['a body that is not JSON', { encoding: 'json', bytes: emptyGroup }, 'bad_body'],
  ['a body that is not gzip', { contentEncoding: 'gzip' }, 'bad_body'],
  ['truncated gzip', { contentEncoding: 'gzip', bytes: gzipSync(emptyGroup).subarray(0, 15) }, 'bad_body'],
  [
    'gzip members separated by zero bytes',
    { contentEncoding: 'gzip', bytes: Buffer.concat([gzipSync(emptyGroup), Buffer.alloc(4), gzipSync(emptyGroup)]) },
    'bad_body',
  ],
  ['P-9: a gzip bomb', { contentEncoding: 'gzip', bytes: gzipSync(Buffer.alloc(100_000)) }, 'body_too_large'],
] as const)('refuses %s', async (_case, body, kind) => {
  expect(await attribute(body as Partial<AttributionInput>)).toMatchObject({ kind: 'refused', refusal: { kind } })
})

test('the refusal names the problem', async () => {
  expect(await attribute({ bytes: Buffer.from([0x0b]) })).toEqual({
    kind: 'refused',
    refusal: { kind: 'bad_body', message: 'The body is not an OTLP export: wire type 3.' },
  })
})
