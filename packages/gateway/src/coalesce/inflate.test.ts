import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { inflate } from './inflate.ts'

/** Bytes of a chain of hashes: nothing that gzip could make smaller. */
const noise = Buffer.concat(
  Array.from({ length: 1_000 }, (_, index) => createHash('sha256').update(`${index}`).digest()),
)

describe.each([
  ['at once', Buffer.from('some telemetry')],
  ['elsewhere', noise],
])('%s', (_, plain) => {
  const packed = gzipSync(plain)

  test('C-3: one member, or several', async () => {
    expect(await inflate(packed, 1_000_000)).toEqual(plain)
    const twice = Buffer.concat([packed, packed])
    expect(await inflate(twice, 1_000_000)).toEqual(Buffer.concat([plain, plain]))
  })

  test.each([
    ['zero bytes behind a member', Buffer.concat([packed, Buffer.alloc(8)])],
    ['zero bytes between members', Buffer.concat([packed, Buffer.alloc(8), packed])],
    ['something else behind a member', Buffer.concat([packed, Buffer.from('more')])],
    ['a member cut short', packed.subarray(0, -1)],
    ['a second member cut short', Buffer.concat([packed, packed.subarray(0, -3)])],
    ['a checksum that is wrong', Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 1)])],
    ['no gzip at all', plain],
  ])('C-3: %s', async (_, body) => {
    expect(await inflate(body, 1_000_000)).toBeUndefined()
  })

  test('more than allowed', async () => {
    expect(await inflate(packed, plain.length)).toEqual(plain)
    expect(await inflate(packed, plain.length - 1)).toBeUndefined()
  })
})

test('nothing at all is no member', () => {
  expect(inflate(Buffer.alloc(0), 100)).toBeUndefined()
})

test('a small body needs no promise, a large one does not hold the loop', () => {
  expect(inflate(gzipSync('small'), 100)).toEqual(Buffer.from('small'))
  expect(gzipSync(noise).length).toBeGreaterThan(16 * 1024)
  expect(inflate(gzipSync(noise), 1_000_000)).toBeInstanceOf(Promise)
})
