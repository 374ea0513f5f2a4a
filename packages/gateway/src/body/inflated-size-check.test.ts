import * as zlib from 'node:zlib'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { InflatedSizeCheck, type InflationVerdict, safeWireBytes } from './inflated-size-check.ts'

const MiB = 1024 * 1024

/** Returns the verdict on a body that is written in pieces of `pieceBytes`, with backpressure. */
async function verdictOn(coding: string, body: Buffer, limitBytes: number, pieceBytes = 16_384) {
  let wake = () => {}
  let verdict: InflationVerdict | undefined
  const check = new InflatedSizeCheck(coding, limitBytes, {
    onDrained: () => wake(),
    onVerdict: (value) => {
      verdict = value
      wake()
    },
  })
  for (let at = 0; at < body.length && verdict === undefined; at += pieceBytes) {
    const isReady = check.write(body.subarray(at, at + pieceBytes))
    if (isReady || verdict !== undefined) continue
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  if (verdict !== undefined) return verdict
  return new Promise<InflationVerdict>((resolve) => {
    wake = () => verdict !== undefined && resolve(verdict)
    check.end()
    wake()
  })
}

describe('P-9: does not inspect bodies that cannot exceed the limit', () => {
  test.each([
    ['gzip', 65_027],
    ['deflate', 65_027],
    ['lz4', Number.POSITIVE_INFINITY],
    ['', Number.POSITIVE_INFINITY],
    ['constructor', Number.POSITIVE_INFINITY],
  ])('%s: %d bytes of 64 MiB', (coding, expected) => {
    expect(safeWireBytes(coding, 64 * MiB)).toBe(expected)
  })

  test('the highest compression ratio of zlib is below 1032 to 1', () => {
    const zeros = Buffer.alloc(8 * MiB)
    expect(zeros.length / gzipSync(zeros, { level: 9 }).length).toBeLessThan(1032)
    expect(zeros.length / deflateSync(zeros, { level: 9, memLevel: 9 }).length).toBeLessThan(1032)
  })

  test('also if they are not valid', async () => {
    expect(await verdictOn('gzip', Buffer.from('not gzip'), 64 * MiB)).toBe('fits')
  })
})

describe('P-9: inflated size', () => {
  const body = gzipSync(Buffer.alloc(MiB, 'telemetry'))

  test('accepts exactly the limit, and refuses one byte more', async () => {
    expect(await verdictOn('gzip', body, MiB)).toBe('fits')
    expect(await verdictOn('gzip', body, MiB - 1)).toBe('too_large')
    expect(await verdictOn('deflate', deflateSync(Buffer.alloc(MiB)), MiB - 1)).toBe('too_large')
  })

  test('refuses a bomb of 1000 to 1', async () => {
    expect(await verdictOn('gzip', gzipSync(Buffer.alloc(32 * MiB), { level: 9 }), 8 * MiB)).toBe('too_large')
  })

  test('refuses a bomb of 10,000 members', async () => {
    const member = gzipSync(Buffer.alloc(8 * 1024))
    const members = Buffer.concat(new Array<Buffer>(10_000).fill(member))
    expect(await verdictOn('gzip', members, 80_000 * 1024 + 8 * 1024 * 10_000)).toBe('fits')
    expect(await verdictOn('gzip', members, 8 * 1024 * 9_999)).toBe('too_large')
  })

  test('accepts single bytes', async () => {
    expect(await verdictOn('gzip', gzipSync(Buffer.alloc(20_000)), 19_999, 1)).toBe('too_large')
  })

  test('P-7: reports bodies that do not match their encoding as invalid', async () => {
    const noise = Buffer.alloc(4096, 'noise')
    expect(await verdictOn('gzip', noise, 1024)).toBe('invalid')
    expect(await verdictOn('gzip', body.subarray(0, -4), MiB)).toBe('invalid')
  })

  test('P-9: does not accept a second gzip member after zero bytes', async () => {
    const hidden = Buffer.concat([body, Buffer.alloc(16), gzipSync(Buffer.alloc(MiB))])
    expect(await verdictOn('gzip', hidden, MiB)).toBe('invalid')
    expect(await verdictOn('gzip', hidden, MiB, body.length)).toBe('invalid')
  })

  const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }
  test.runIf(zstdCompressSync)('always inspects zstd if Node supports it', async () => {
    const packed = zstdCompressSync!(Buffer.alloc(MiB))
    expect(safeWireBytes('zstd', 64 * MiB)).toBe(0)
    expect(await verdictOn('zstd', packed, MiB)).toBe('fits')
    expect(await verdictOn('zstd', packed, MiB - 1)).toBe('too_large')
    expect(await verdictOn('zstd', Buffer.from('not zstd'), MiB)).toBe('invalid')
  })
})
