import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { inflate } from './inflate.ts'

describe('C-3', () => {
  const plain = Buffer.from('some telemetry')
  const packed = gzipSync(plain)

  test('inflates one gzip member or several', () => {
    expect(inflate(packed, 1_000_000)).toEqual(plain)
    const twice = Buffer.concat([packed, packed])
    expect(inflate(twice, 1_000_000)).toEqual(Buffer.concat([plain, plain]))
  })

  test.each([
    ['zero bytes after a member', Buffer.concat([packed, Buffer.alloc(8)])],
    ['zero bytes between members', Buffer.concat([packed, Buffer.alloc(8), packed])],
    ['other data after a member', Buffer.concat([packed, Buffer.from('more')])],
    ['a truncated member', packed.subarray(0, -1)],
    ['a truncated second member', Buffer.concat([packed, packed.subarray(0, -3)])],
    ['a wrong checksum', Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 1)])],
    ['a body that is not gzip', plain],
  ])('does not inflate %s', (_, body) => {
    expect(inflate(body, 1_000_000)).toBeUndefined()
  })

  test('does not inflate beyond the limit', () => {
    expect(inflate(packed, plain.length)).toEqual(plain)
    expect(inflate(packed, plain.length - 1)).toBeUndefined()
  })
})

test('does not inflate an empty body', () => {
  expect(inflate(Buffer.alloc(0), 100)).toBeUndefined()
})
