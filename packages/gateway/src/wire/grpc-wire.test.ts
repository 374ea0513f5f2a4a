import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeGrpcMessage, encodeGrpcMessage, formatGrpcTimeout, frame, parseGrpcTimeout } from './grpc-wire.ts'

test('builds a frame of flag, length and message', () => {
  expect(frame(Buffer.from('abc'), false).toString('hex')).toBe('0000000003616263')
  expect(frame(Buffer.from('abc'), true).toString('hex')).toBe('0100000003616263')
})

test.each([
  ['plain text, even so', 'plain text, even so'],
  ['100 %', '100 %25'],
  ['naïve\n', 'na%C3%AFve%0A'],
  ['🚀', '%F0%9F%9A%80'],
])('P-21: encodes %j as %j', (text, sent) => {
  expect(encodeGrpcMessage(text)).toBe(sent)
  expect(decodeGrpcMessage(sent)).toBe(text)
})

test('P-21: encodes to printable ASCII and decodes to the same text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(encodeGrpcMessage(text)).toMatch(/^[\x20-\x7e]*$/)
      expect(decodeGrpcMessage(encodeGrpcMessage(text))).toBe(text)
    }),
  )
})

test.each(['%', '%2', '%zz', 'a%', '%C3'])('P-25: decodes the invalid escape %j without an error', (text) => {
  expect(typeof decodeGrpcMessage(text)).toBe('string')
})

test.each([
  ['1H', 3_600_000],
  ['2M', 120_000],
  ['10S', 10_000],
  ['99999999m', 99_999_999],
  ['500u', 0.5],
  ['1n', 1e-6],
  ['', undefined],
  ['S', undefined],
  ['123456789m', undefined],
  ['-1S', undefined],
  ['1.5S', undefined],
  ['1s', undefined],
])('P-23: reads grpc-timeout %j as %s ms', (text, ms) => {
  expect(parseGrpcTimeout(text)).toBe(ms)
})

test.each([
  [9_998.7, '9998m'],
  [0.2, '1m'],
  [100_000_000, '100000S'],
  [1e15, '99999999S'],
])('P-23: writes %d ms as %s', (ms, text) => {
  expect(formatGrpcTimeout(ms)).toBe(text)
})
