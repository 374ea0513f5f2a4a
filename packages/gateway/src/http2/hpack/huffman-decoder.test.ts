import fc from 'fast-check'
import { expect, test } from 'vitest'
import { huffmanCodeLengths } from './huffman-code.ts'
import { CONTAINS_EOS, decodeHuffman, INVALID_PADDING, maxHuffmanOutputBytes } from './huffman-decoder.ts'

/** The codes as strings of bits, in the order of the symbols. */
const codes = buildCodes()

function buildCodes(): readonly string[] {
  const bySize = huffmanCodeLengths.map((length, symbol) => ({ length, symbol }))
  bySize.sort((a, b) => a.length - b.length || a.symbol - b.symbol)
  const all: string[] = []
  let code = 0n
  let previousLength = bySize[0]!.length
  for (const { length, symbol } of bySize) {
    code <<= BigInt(length - previousLength)
    all[symbol] = code.toString(2).padStart(length, '0')
    code += 1n
    previousLength = length
  }
  return all
}

function bytesOfBits(bits: string): Uint8Array {
  return Uint8Array.from(bits.match(/.{1,8}/g) ?? [], (byte) => Number.parseInt(byte.padEnd(8, '1'), 2))
}

function decode(bytes: Uint8Array): Uint8Array | number {
  const output = new Uint8Array(maxHuffmanOutputBytes(bytes.length))
  const written = decodeHuffman(bytes, 0, bytes.length, output)
  return written < 0 ? written : output.slice(0, written)
}

test.each([
  ['0', '00000'],
  ['t', '01001'],
  [' ', '010100'],
  ['z', '1111011'],
  ['&', '11111000'],
  ['!', '1111111000'],
  ['\\', '1111111111111110000'],
  ['\n', '111111111111111111111111111100'],
  ['\x16', '111111111111111111111111111110'],
  ['\x00', '1111111111000'],
  ['\xff', '11111111111111111111101110'],
  ['\xf9', '1111111111111111111111111110'],
])('RFC 7541, appendix B: %j has the code %s', (symbol, code) => {
  expect(codes[symbol.charCodeAt(0)]).toBe(code)
})

test('the code is complete, and EOS consists of 30 ones', () => {
  expect(codes).toHaveLength(257)
  expect(codes[256]).toBe('1'.repeat(30))
  expect(huffmanCodeLengths.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1)
})

test('decodes what the code encodes, and rejects it with a whole byte of padding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const encoded = bytesOfBits(Array.from(bytes, (byte) => codes[byte]!).join(''))
      expect(decode(encoded)).toEqual(bytes)
      expect(decode(Uint8Array.of(...encoded, 0xff))).toBe(INVALID_PADDING)
    }),
  )
})

test('a random string is what its symbols encode, or has invalid padding or EOS', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const decoded = decode(bytes)
      if (typeof decoded === 'number') expect([INVALID_PADDING, CONTAINS_EOS]).toContain(decoded)
      else expect(bytesOfBits(Array.from(decoded, (byte) => codes[byte]!).join(''))).toEqual(bytes)
    }),
  )
})

test('rejects each symbol that is cut or followed by EOS', () => {
  for (const code of codes.slice(0, 256)) {
    expect(decode(bytesOfBits(`${code}${codes[256]}${code}`))).toBe(CONTAINS_EOS)
    const zeros = '0'.repeat(8 - (code.length % 8))
    // Five zeros or more are symbols.
    if (zeros.length < 5) expect(decode(bytesOfBits(code + zeros))).toBe(INVALID_PADDING)
  }
})
