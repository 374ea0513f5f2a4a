import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BYTES_PER_TURN, parseJsonInTurns } from './json-in-turns.ts'

const parse = (text: string) => parseJsonInTurns(Buffer.from(text))
/** Whatever is around the end of a slice. */
const fillers = fc.integer({ min: -8, max: 8 }).map((more) => 'x'.repeat(BYTES_PER_TURN + more))
const ends = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('\\', '"', 'u', 'é', '€', '😀', '\n', '\u0001', '\ufeff', 'a'), maxLength: 12 }),
)

test('a long string has the value that it has in one piece', async () => {
  await fc.assert(
    fc.asyncProperty(fillers, ends, ends, async (filler, first, second) => {
      const value = { a: [`${filler}${first}`, 1], [first]: `${filler}${second}`, c: null }
      expect(await parse(JSON.stringify(value))).toEqual(value)
      expect(await parse(JSON.stringify(filler + first))).toBe(filler + first)
    }),
    { numRuns: 200 },
  )
})

test('escape sequences around the end of a slice are not cut', async () => {
  for (let shift = 0; shift < 8; shift += 1) {
    for (const sequence of ['\\u0041', '\\ud83d\\ude00', '\\\\', '\\"', '\\\\\\u0041', '\\\\u0041']) {
      const text = `["${'x'.repeat(BYTES_PER_TURN - shift)}${sequence.repeat(3)}"]`
      expect(await parse(text)).toEqual(JSON.parse(text))
    }
  }
})

test.each(['\n', '"', '\\', '\t', '\u0001'])('the name %j stays what it is', async (name) => {
  const value = { [name]: 'x'.repeat(BYTES_PER_TURN), a: { [name]: 1 } }
  expect(await parse(JSON.stringify(value))).toEqual(value)
})

test('a long name stays a name, and members with special names stay members', async () => {
  const long = 'n'.repeat(BYTES_PER_TURN)
  const text = `{"${long}" : 1, "__proto__": "${long}"}`
  const value = (await parse(text)) as object
  expect(Object.keys(value)).toEqual([long, '__proto__'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test.each([
  ['a line feed in a string', `"${'x'.repeat(BYTES_PER_TURN)}\n"`],
  ['a string without an end', `"${'x'.repeat(BYTES_PER_TURN)}`],
  ['a missing bracket', `["${'x'.repeat(BYTES_PER_TURN)}"`],
  ['two values', `"${'x'.repeat(BYTES_PER_TURN)}" 1`],
  ['an unknown escape sequence', `"${'x'.repeat(BYTES_PER_TURN)}\\q"`],
])('%s is not JSON', async (_, text) => {
  await expect(parse(text)).rejects.toThrow()
})

test('bytes that are not UTF-8 are rejected', async () => {
  const long = Buffer.from(`"${'x'.repeat(BYTES_PER_TURN)}é"`)
  const cut = Buffer.concat([long.subarray(0, -2), Buffer.from('"')])
  await expect(parseJsonInTurns(cut)).rejects.toThrow()
})

test('four files of four megabytes take as many turns as they have slices', async () => {
  const content = 'a'.repeat(4 * 1024 * 1024)
  const bytes = Buffer.from(JSON.stringify({ files: [content, content, content, content] }))
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await parseJsonInTurns(bytes)
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(64)
})
