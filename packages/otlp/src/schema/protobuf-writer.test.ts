import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProtobufWriter } from './protobuf-writer.ts'

function written(write: (writer: ProtobufWriter) => void): string {
  const writer = new ProtobufWriter()
  write(writer)
  return Buffer.from(writer.bytesView()).toString('hex')
}

test.each([
  { value: 0, hex: '00' },
  { value: 127, hex: '7f' },
  { value: 128, hex: '8001' },
  { value: 300, hex: 'ac02' },
  { value: 16_383, hex: 'ff7f' },
  { value: 16_384, hex: '808001' },
  { value: 2_097_151, hex: 'ffff7f' },
  { value: 2_097_152, hex: '80808001' },
  { value: 2 ** 28 - 1, hex: 'ffffff7f' },
  { value: 2 ** 28, hex: '8080808001' },
  { value: 2 ** 32 - 1, hex: 'ffffffff0f' },
  { value: Number.MAX_SAFE_INTEGER, hex: 'ffffffffffffff0f' },
])('the varint of $value', ({ value, hex }) => {
  expect(written((writer) => writer.varint(value))).toBe(hex)
  expect(written((writer) => writer.varint64(BigInt(value)))).toBe(hex)
})

test.each([
  { value: -1n, hex: 'ffffffffffffffffff01' },
  { value: -(2n ** 63n), hex: '80808080808080808001' },
  { value: 2n ** 64n - 1n, hex: 'ffffffffffffffffff01' },
  { value: 2n ** 53n, hex: '8080808080808010' },
])('the varint of $value', ({ value, hex }) => {
  expect(written((writer) => writer.varint64(value))).toBe(hex)
})

test.each([
  { name: 'a high surrogate at the end', text: 'a\ud83d' },
  { name: 'a low surrogate at the start', text: '\ude80a' },
  { name: 'two high surrogates before a low one', text: '\ud83d\ud83d\ude80' },
  { name: 'surrogates the wrong way round', text: '\ude80\ud83d' },
])('$name: lone surrogates become U+FFFD in short and in long texts', ({ text }) => {
  for (const padding of ['', 'x'.repeat(200)]) {
    const expected = Buffer.from((text + padding).toWellFormed())
    const hex = written((writer) => writer.text(text + padding))
    expect(hex.endsWith(expected.toString('hex'))).toBe(true)
  }
})

test('a text of any length and script is written as its length and its UTF-8', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 90 }), { maxLength: 4 }), (texts) => {
      const expected = texts.map((text) => {
        const utf8 = Buffer.from(text)
        const length = utf8.length < 128 ? [utf8.length] : [(utf8.length & 0x7f) | 0x80, utf8.length >> 7]
        return Buffer.concat([Buffer.from(length), utf8])
      })
      const hex = written((writer) => {
        for (const text of texts.toReversed()) writer.text(text)
      })
      expect(hex).toBe(Buffer.concat(expected).toString('hex'))
    }),
  )
})

test('growing the buffer keeps the written bytes', () => {
  const hex = written((writer) => {
    writer.double(1.5)
    writer.raw(new Uint8Array(100_000))
    writer.fixed32(7)
  })
  expect(hex.slice(0, 8)).toBe('07000000')
  expect(hex.slice(-16)).toBe('000000000000f83f')
  expect(hex).toHaveLength(2 * (4 + 100_000 + 8))
})
