import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newSecretText, parseSecretText, randomBase62, secretScannerPattern } from './token-format.ts'

const zeros = (bytes: number) => new Uint8Array(bytes)

test('T-1: a token consists of prefix, id, secret and checksum', () => {
  // The CRC-32 of the 61 characters before the checksum is 0x9ef3fb93, which is 2uTZqN in base62.
  expect(newSecretText('ingest', zeros)).toEqual({
    id: '000000000000',
    text: 'psin_000000000000_00000000000000000000000000000000000000000002uTZqN',
  })
})

test('T-1: a generated secret can be parsed, and is found by secret scanners', () => {
  for (const kind of ['ingest', 'api_key'] as const) {
    const { id, text } = newSecretText(kind, randomBytes)
    expect(text).toHaveLength(67)
    expect(text).toMatch(/^[0-9A-Za-z_]+$/)
    expect(parseSecretText(kind, text)).toEqual({ id })
    expect(`TOKEN="${text}"`.match(secretScannerPattern)?.[0]).toBe(text)
  }
})

test('T-1: an ingest token is not parsed as an API key, nor the reverse', () => {
  expect(parseSecretText('ingest', newSecretText('api_key', randomBytes).text)).toBeUndefined()
  expect(parseSecretText('api_key', newSecretText('ingest', randomBytes).text)).toBeUndefined()
})

test('T-2: bytes that would make some letters more likely are discarded', () => {
  const bytes = [255, 248, 247, 0, 61, 62, 250, 1]
  const source = (count: number) => Uint8Array.from({ length: count }, (_, index) => bytes[index % bytes.length]!)
  expect(randomBase62(5, source)).toBe('z0z01')
})

describe('T-3: the checksum', () => {
  const { text } = newSecretText('ingest', randomBytes)

  test('is the CRC-32 that zlib computes', () => {
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const value = [...text.slice(61)].reduce((sum, letter) => sum * 62 + alphabet.indexOf(letter), 0)
    expect(value).toBe(crc32(text.slice(0, 61)))
  })

  test('detects every wrong letter', () => {
    fc.assert(
      fc.property(fc.nat(66), fc.constantFrom(...'0Az_!é'), (at, letter) => {
        fc.pre(text[at] !== letter)
        expect(parseSecretText('ingest', text.slice(0, at) + letter + text.slice(at + 1))).toBeUndefined()
      }),
    )
  })

  test('detects two swapped letters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 65 }), (at) => {
        const swapped = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2)
        expect(parseSecretText('ingest', swapped) === undefined).toBe(swapped !== text)
      }),
    )
  })

  test.each(['', 'psin_', text.slice(0, 66), `${text}0`, ` ${text}`])('refuses %j', (other) => {
    expect(parseSecretText('ingest', other)).toBeUndefined()
  })
})
