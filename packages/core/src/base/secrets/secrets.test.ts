import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { sealText, UnsealError, unsealText } from './sealed-text.ts'
import { loadSecretsKey } from './secrets-key.ts'

const key = Buffer.alloc(32, 7)
const place = ['ci_variable', 'project', '5', 'TOKEN']

test('decrypts only for its place and key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const sealed = sealText(key, randomBytes(12), place, text)
      expect(unsealText(key, place, sealed)).toBe(text)
      expect(() => unsealText(Buffer.alloc(32, 8), place, sealed)).toThrow(UnsealError)
      expect(() => unsealText(key, ['ci_variable', 'project', '6', 'TOKEN'], sealed)).toThrow(UnsealError)
      expect(() => unsealText(key, place, sealed.slice(0, -8))).toThrow(UnsealError)
    }),
  )
})

test('is compatible with AES-256-GCM of the Web Cryptography API', async () => {
  const nonce = Buffer.from('000102030405060708090a0b', 'hex')
  const [, body] = sealText(key, nonce, place, 'hunter2-hunter2').split('.')
  const webKey = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
  const algorithm = { name: 'AES-GCM', iv: nonce, additionalData: Buffer.from('["ci_variable","project","5","TOKEN"]') }
  const opened = await crypto.subtle.decrypt(algorithm, webKey, Buffer.from(body!, 'base64').subarray(12))
  expect(Buffer.from(opened).toString()).toBe('hunter2-hunter2')
})

test('creates the key once, readable by its owner only, even if several processes start together', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-key-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'data', 'secrets.key')
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadSecretsKey(file, randomBytes)))
  expect(new Set(keys.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(1)
  expect(keys[0]).toHaveLength(32)
  expect(await loadSecretsKey(file, randomBytes)).toEqual(keys[0])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(directory, 'data'))).toEqual(['secrets.key'])
  chmodSync(file, 0o640)
  await expect(loadSecretsKey(file, randomBytes)).rejects.toThrow('others may read it')
  writeFileSync(join(directory, 'short'), 'abc', { mode: 0o600 })
  await expect(loadSecretsKey(join(directory, 'short'), randomBytes)).rejects.toThrow('64 hexadecimal digits')
})
