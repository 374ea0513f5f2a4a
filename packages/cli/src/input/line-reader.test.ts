import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineReader } from './line-reader.ts'

/** Yields the text in pieces of the given lengths, repeatedly. */
function* inPieces(text: string, lengths: readonly number[]): Generator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let start = 0, piece = 0; start < bytes.length; piece++) {
    const length = lengths[piece % lengths.length] ?? 1
    yield bytes.subarray(start, start + length)
    start += length
  }
}

function reader(text: string, lengths: readonly number[] = [7], maxBytes = 100): LineReader {
  const source = inPieces(text, lengths)
  return new LineReader({ [Symbol.asyncIterator]: () => asynchronous(source) }, maxBytes)
}

async function* asynchronous(source: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* source
}

async function allLines(lines: LineReader): Promise<string[]> {
  const all: string[] = []
  for (let line = await lines.next(); line; line = await lines.next()) all.push(`${line.number} ${line.bytes}`)
  return all
}

test.each([
  { text: '', lines: [] },
  { text: 'a', lines: ['1 a'] },
  { text: 'a\n', lines: ['1 a'] },
  { text: 'a\nb', lines: ['1 a', '2 b'] },
  { text: '\n\nb\n', lines: ['1 ', '2 ', '3 b'] },
])('lines of $text', async ({ text, lines }) => {
  expect(await allLines(reader(text))).toEqual(lines)
})

test('the result does not depend on the pieces in which bytes arrive', async () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 20 })), lengths, async (parts, pieces) => {
      const text = parts.join('\n')
      expect(await allLines(reader(text, pieces))).toEqual(await allLines(reader(text, [text.length + 1])))
    }),
  )
})

test('a line that is too long can be skipped', async () => {
  const lines = reader(`short\n${'x'.repeat(50)}\nagain\n`, [7], 10)
  expect((await lines.next())?.bytes?.toString()).toBe('short')
  expect(await lines.next()).toEqual({ number: 2, bytes: undefined })
  await lines.skipLine()
  expect(await lines.next()).toMatchObject({ number: 3 })
})

test('returns the remaining bytes unless they are too long', async () => {
  const lines = reader('a\nb\nc')
  await lines.next()
  expect((await lines.rest(3))?.toString()).toBe('b\nc')
  const longer = reader('a\nb\nc')
  await longer.next()
  expect(await longer.rest(2)).toBeUndefined()
})
