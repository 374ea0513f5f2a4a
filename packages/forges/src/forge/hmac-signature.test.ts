import { expect, test } from 'vitest'
import { type SignatureForm, validateHmac } from './hmac-signature.ts'

const credentials = (...secretTokens: string[]) => ({
  tokenDigests: [],
  signingKeys: [],
  secretTokens: secretTokens.map((token) => Buffer.from(token)),
})
const hex: SignatureForm = { algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' }
const base64: SignatureForm = { algorithm: 'sha256', encoding: 'base64', prefix: '' }

/** RFC 4231, test case 2. */
const key = 'Jefe'
const body = Buffer.from('what do ya want for nothing?')
const digest = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'

test('a signature is valid with any secret token of the source', () => {
  expect(validateHmac(credentials('other', key), hex, `sha256=${digest}`, [body])).toBeUndefined()
  expect(validateHmac(credentials(key), hex, `sha256=${digest.toUpperCase()}`, [body])).toBeUndefined()
  const inBase64 = Buffer.from(digest, 'hex').toString('base64')
  expect(validateHmac(credentials(key), base64, inBase64, [body.subarray(0, 4), body.subarray(4)])).toBeUndefined()
})

test('any other signature is wrong', () => {
  const wrong = ['sha256=', 'sha256=00', `sha256=${digest.slice(2)}`, `sha256=${digest}00`, `sha256=x${digest}`]
  for (const value of wrong) expect(validateHmac(credentials(key), hex, value, [body])).toBe('signature_wrong')
  expect(validateHmac(credentials(key), hex, `sha256=${digest}`, [body, body])).toBe('signature_wrong')
  expect(validateHmac(credentials('other'), hex, `sha256=${digest}`, [body])).toBe('signature_wrong')
})

test('a header without the prefix has no signature', () => {
  for (const value of [undefined, '', digest, `sha1=${digest}`]) {
    expect(validateHmac(credentials(key), hex, value, [body])).toBe('signature_missing')
  }
})

test('a source without a secret token requires no signature', () => {
  expect(validateHmac(credentials(), hex, undefined, [body])).toBeUndefined()
})
