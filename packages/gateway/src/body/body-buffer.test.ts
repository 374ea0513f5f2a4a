import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BodyBuffer } from './body-buffer.ts'

test('does not copy a body of one piece', () => {
  const piece = Buffer.from('abc')
  const body = new BodyBuffer(3)
  body.add(piece)
  expect(body.bytes()).toBe(piece)
})

test('returns the same body for any pieces and any declared length, and does not modify the pieces', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40_000 }), { maxLength: 12 })
  fc.assert(
    fc.property(pieces, fc.option(fc.nat(100_000), { nil: undefined }), (parts, declared) => {
      const copies = parts.map((part) => Buffer.from(part))
      const body = new BodyBuffer(declared)
      for (const part of parts) body.add(part)
      expect(Buffer.from(body.bytes()).equals(Buffer.concat(copies))).toBe(true)
      for (const [at, part] of parts.entries()) expect(copies[at]!.equals(part)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('does not hold the first piece of a body that is not complete', () => {
  const piece = Buffer.from('abc')
  const body = new BodyBuffer(4)
  body.add(piece)
  expect(body.bytes().buffer).not.toBe(piece.buffer)
  expect(Buffer.from(body.bytes()).toString()).toBe('abc')
})

test('allocates for what has arrived, not for what is declared', () => {
  const body = new BodyBuffer(64 * 1024 * 1024)
  body.add(Buffer.alloc(100_000))
  body.add(Buffer.alloc(1))
  expect(body.bytes().buffer.byteLength).toBeLessThanOrEqual(200_000)
})
