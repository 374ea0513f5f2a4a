import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { inflate } from './inflate.ts'

describe('C-3', () => {
  const plain = Buffer.from('some telemetry')
  const packed = gzipSync(plain)

  test('one member, or several', () => {
    expect(inflate(packed, 1_000_000)).toEqual(plain)
    const twice = Buffer.concat([packed, packed])
    expect(inflate(twice, 1_000_000)).toEqual(Buffer.concat([plain, plain]))
  })

  test.each([
    ['zero bytes behind a member', Buffer.concat([packed, Buffer.alloc(8)])],
    ['zero bytes between members', Buffer.concat([packed, Buffer.alloc(8), packed])],
    ['something else behind a member', Buffer.concat([packed, Buffer.from('more')])],
    ['a member cut short', packed.subarray(0, -1)],
    ['a second member cut short', Buffer.concat([packed, packed.subarray(0, -3)])],
    ['a checksum that is wrong', Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 1)])],
    ['no gzip at all', plain],
  ])('%s', (_, body) => {
    expect(inflate(body, 1_000_000)).toBeUndefined()
  })

  test('more than allowed', () => {
    expect(inflate(packed, plain.length)).toEqual(plain)
    expect(inflate(packed, plain.length - 1)).toBeUndefined()
  })
})

test('nothing at all is no member', () => {
  expect(inflate(Buffer.alloc(0), 100)).toBeUndefined()
})
