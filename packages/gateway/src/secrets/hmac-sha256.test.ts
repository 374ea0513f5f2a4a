import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HmacSha256 } from './hmac-sha256.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('matches RFC 4231, test cases 1 and 2', () => {
  expect(hex(new HmacSha256(new Uint8Array(20).fill(0x0b)).digest('Hi There'))).toBe(
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  )
  expect(hex(new HmacSha256(Buffer.from('Jefe')).digest('what do ya want for nothing?'))).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test('T-4: equals node:crypto for every key and ASCII text', () => {
  const ascii = fc.string({ unit: 'binary-ascii', maxLength: 300, size: 'max' })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64, size: 'max' }), ascii, (key, text) => {
      expect(hex(new HmacSha256(key).digest(text))).toBe(createHmac('sha256', key).update(text).digest('hex'))
    }),
  )
})

test('equals node:crypto at every length around block boundaries', () => {
  const key = new Uint8Array(32).fill(3)
  const hash = new HmacSha256(key)
  for (let length = 0; length <= 260; length += 1) {
    const text = 'x'.repeat(length)
    expect(hex(hash.digest(text))).toBe(createHmac('sha256', key).update(text).digest('hex'))
  }
})

test('refuses a key that is longer than a block', () => {
  expect(() => new HmacSha256(new Uint8Array(65))).toThrow(RangeError)
})
