import { gzipSync } from 'node:zlib'
import { RecordError } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { decodedBytes } from './input-decoding.ts'

/** Yields the bytes in pieces of `length`. */
async function* pieces(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length)
}

async function decoded(bytes: Buffer, length = 1_000): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of decodedBytes(pieces(bytes, length))) parts.push(part)
  return Buffer.concat(parts).toString()
}

const json = '{"name":"Ünïcode 🦊","id":1}\n{"id":2}\n'
const utf16le = Buffer.from(json, 'utf16le')
const utf16be = Buffer.from(utf16le).swap16()
const mark = Buffer.from('\ufeff', 'utf16le')

describe('inputs that are decoded to UTF-8 from pieces of any length', () => {
  test.each([
    ['UTF-8', Buffer.from(json)],
    ['gzip', gzipSync(json)],
    ['gzip of several members', Buffer.concat([gzipSync(json.slice(0, 7)), gzipSync(json.slice(7))])],
    ['UTF-16 with a byte order mark', Buffer.concat([mark, utf16le])],
    ['big-endian UTF-16 with a byte order mark', Buffer.concat([Buffer.from(mark).swap16(), utf16be])],
    ['UTF-16 without a mark', utf16le],
    ['big-endian UTF-16 without a mark', utf16be],
    ['gzip of UTF-16', gzipSync(Buffer.concat([mark, utf16le]))],
  ])('%s', async (_, bytes) => {
    for (const length of [1, 2, 3, 1_000]) expect((await decoded(bytes, length)).replace(/^\ufeff/, '')).toBe(json)
  })

  test.each(['', '{', '[]', '1'])('%j, which is shorter than every signature of an encoding', async (text) => {
    expect(await decoded(Buffer.from(text))).toBe(text)
  })
})

describe('inputs that are refused with advice', () => {
  const whole = gzipSync(json)
  test.each<[string, Buffer, string]>([
    ['gzip cut off', whole.subarray(0, whole.length - 9), 'is gzip that is cut off or damaged'],
    ['gzip damaged', Buffer.concat([whole.subarray(0, 12), Buffer.alloc(40, 7)]), 'is gzip that is cut off or damaged'],
    ['zip', Buffer.from('PK\u0003\u0004 and more'), 'is a zip archive'],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]), 'is compressed with zstd'],
    ['bzip2', Buffer.from('BZh91AY&SY'), 'is compressed with bzip2'],
    ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), 'is compressed with xz'],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0]), 'is UTF-32'],
    ['UTF-16 cut inside a character', utf16le.subarray(0, utf16le.length - 1), 'is damaged UTF-16'],
  ])('%s', async (_, bytes, reason) => {
    for (const length of [1, 1_000]) {
      const failure = await decoded(bytes, length).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(RecordError)
      expect((failure as RecordError).message).toContain(reason)
    }
  })
})

test('gzip is inflated only as far as the reader requests', async () => {
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024))
  let inflated = 0
  for await (const part of decodedBytes(pieces(bomb, 65_536))) {
    inflated += part.length
    if (inflated > 1024 * 1024) break
  }
  expect(inflated).toBeLessThan(2 * 1024 * 1024)
})

test('returning early closes the source', async () => {
  let closed = false
  async function* source() {
    try {
      for (;;) yield gzipSync(json)
    } finally {
      closed = true
    }
  }
  for await (const _ of decodedBytes(source())) break
  expect(closed).toBe(true)
})
