import { expect, test } from 'vitest'
import { isSpanId, isTraceId } from './ids.ts'

test.each([
  ['0102030405060708090a0b0c0d0e0f10', true],
  ['00000000000000000000000000000001', true],
  ['00000000000000000000000000000000', false],
  ['0102030405060708090A0B0C0D0E0F10', false],
  ['0102030405060708090a0b0c0d0e0f1', false],
  ['0102030405060708090a0b0c0d0e0f1g', false],
  ['0102030405060708090a0b0c0d0e0f10\n', false],
  ['', false],
])('trace id %j: %s', (text, valid) => {
  expect(isTraceId(text)).toBe(valid)
})

test.each([
  ['a1a2a3a4a5a6a7a8', true],
  ['0000000000000000', false],
  ['0102030405060708090a0b0c0d0e0f10', false],
])('span id %j: %s', (text, valid) => {
  expect(isSpanId(text)).toBe(valid)
})
