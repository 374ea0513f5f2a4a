import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OtlpDecodeError } from '../bytes/decode-error.ts'
import { signalNames } from '../model/signals.ts'
import { decodeExportResponse, encodeExportResponse } from './export-response.ts'

const partial = { rejected: 3n, message: 'no' }

test('a partial success in protobuf is the same for all signals', () => {
  for (const signal of signalNames) {
    expect(Buffer.from(encodeExportResponse(signal, partial, 'protobuf')).toString('hex')).toBe('0a06080312026e6f')
  }
})

test.each([
  { signal: 'traces' as const, json: '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}' },
  { signal: 'metrics' as const, json: '{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"no"}}' },
  { signal: 'logs' as const, json: '{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"no"}}' },
])('a partial success of $signal in JSON', ({ signal, json }) => {
  expect(Buffer.from(encodeExportResponse(signal, partial, 'json')).toString()).toBe(json)
  expect(decodeExportResponse(signal, Buffer.from(json), 'json')).toEqual(partial)
})

test('full success is encoded as no bytes in protobuf and as {} in JSON', () => {
  expect(encodeExportResponse('logs', undefined, 'protobuf')).toHaveLength(0)
  expect(Buffer.from(encodeExportResponse('logs', undefined, 'json')).toString()).toBe('{}')
})

describe('full success is decoded from', () => {
  test.each(['', '{}', '{"partialSuccess":{}}', '{"partialSuccess":null}', '{"partialSuccess":{"rejectedSpans":0}}'])(
    'JSON %j',
    (body) => expect(decodeExportResponse('traces', Buffer.from(body), 'json')).toBeUndefined(),
  )
  test.each(['', '0a00', '0a020800'])('protobuf %j', (hex) => {
    expect(decodeExportResponse('traces', Buffer.from(hex, 'hex'), 'protobuf')).toBeUndefined()
  })
})

test('a message without rejected items is a warning', () => {
  const body = Buffer.from('{"partialSuccess":{"errorMessage":"deprecated"}}')
  expect(decodeExportResponse('logs', body, 'json')).toEqual({ rejected: 0n, message: 'deprecated' })
})

test('anything else is refused with a path', () => {
  const body = Buffer.from('{"partialSuccess":{"rejectedSpans":"many"}}')
  expect(() => decodeExportResponse('traces', body, 'json')).toThrow(OtlpDecodeError)
  expect(() => decodeExportResponse('traces', body, 'json')).toThrow('partialSuccess.rejectedSpans: must be an integer')
})

test('every partial success is decoded to what was encoded', () => {
  const partials = fc.record({ rejected: fc.bigInt(1n, 2n ** 63n - 1n), message: fc.string({ unit: 'grapheme' }) })
  fc.assert(
    fc.property(
      partials,
      fc.constantFrom(...signalNames),
      fc.constantFrom('protobuf', 'json'),
      (given, signal, encoding) => {
        expect(decodeExportResponse(signal, encodeExportResponse(signal, given, encoding), encoding)).toEqual(given)
      },
    ),
  )
})
