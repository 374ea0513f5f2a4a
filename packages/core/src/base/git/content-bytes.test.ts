import fc from 'fast-check'
import { expect, test } from 'vitest'
import { base64Bytes, CHARACTERS_PER_TURN, utf8Bytes } from './content-bytes.ts'

/** A filler that makes a text longer than one slice, so that what follows is around the end of the slice. */
const fillers = fc.integer({ min: -6, max: 6 }).map((more) => CHARACTERS_PER_TURN + more)

test('a text is encoded as if it were not cut', async () => {
  const texts = fc.string({ unit: 'binary', maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(fillers, texts, async (length, text) => {
      const long = 'x'.repeat(length) + text
      expect(Buffer.from(await utf8Bytes(long)).equals(Buffer.from(long))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('both halves of a character are encoded together', async () => {
  const long = `${'x'.repeat(CHARACTERS_PER_TURN - 1)}😀y`
  expect(Buffer.from(await utf8Bytes(long)).toString()).toBe(long)
})

test('base64 is decoded as if it were not cut, with line breaks and in both alphabets', async () => {
  await fc.assert(
    fc.asyncProperty(fillers, fc.uint8Array({ maxLength: 9 }), fc.constantFrom('\n', ''), async (length, end, gap) => {
      const bytes = Buffer.concat([Buffer.alloc(Math.trunc((length * 3) / 4), 0xfb), end])
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = gap + bytes.toString(encoding)
        expect(Buffer.from((await base64Bytes(text))!).equals(bytes)).toBe(true)
      }
    }),
    { numRuns: 25 },
  )
})

test.each([
  'a=b',
  'a===',
  'ä',
  `${'A'.repeat(CHARACTERS_PER_TURN - 1)}=A`,
  `${'A'.repeat(CHARACTERS_PER_TURN)}=\n=\n=`,
])('a text that is not base64 is refused (case %#)', async (text) => {
  expect(await base64Bytes(text)).toBeUndefined()
})

test('the event loop turns while a large content is handled', async () => {
  const text = 'A'.repeat(16 * CHARACTERS_PER_TURN)
  for (const convert of [utf8Bytes, base64Bytes]) {
    let turns = 0
    let isDone = false
    const count = () => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await convert(text)
    isDone = true
    expect(turns).toBeGreaterThanOrEqual(15)
  }
})
