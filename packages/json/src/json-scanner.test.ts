import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  exceededJsonLimit,
  type JsonLimit,
  type JsonLimits,
  JsonScanner,
  unlimitedJson as unlimited,
} from './json-scanner.ts'

type Counts = Record<Exclude<JsonLimit, 'digits'>, number>

/** Counts in the parsed value, with an explicit stack so that deep values do not overflow the call stack. */
function referenceCounts(root: unknown): Counts {
  const counts: Counts = { containers: 0, values: 0, depth: 0, elements: 0, members: 0 }
  const open = [{ value: root, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    counts.values++
    if (typeof next.value !== 'object' || next.value === null) continue
    const depth = next.depth + 1
    counts.containers++
    counts.depth = Math.max(counts.depth, depth)
    const children = Object.values(next.value)
    // One element has no comma, which is what is counted.
    if (children.length > 1) counts.elements = Math.max(counts.elements, children.length)
    if (!Array.isArray(next.value)) counts.members += children.length
    for (const value of children) open.push({ value, depth })
  }
  return counts
}

/** More than any text of these tests has. */
const MAX_DEPTH = 200

/** Returns each count, found as the smallest limit that is not exceeded. */
function scannedCounts(text: string): Counts {
  const bytes = Buffer.from(text)
  const smallest = (limit: JsonLimit) => {
    for (let most = 0; ; most++)
      if (exceededJsonLimit(bytes, { ...unlimited, depth: MAX_DEPTH, [limit]: most }) === undefined) return most
  }
  return {
    containers: smallest('containers'),
    values: smallest('values'),
    depth: smallest('depth'),
    elements: smallest('elements'),
    members: smallest('members'),
  }
}

describe('counts', () => {
  test.each<[string, Counts]>([
    ['1', { containers: 0, values: 1, depth: 0, elements: 0, members: 0 }],
    [' -1.5e3 ', { containers: 0, values: 1, depth: 0, elements: 0, members: 0 }],
    ['"a"', { containers: 0, values: 1, depth: 0, elements: 0, members: 0 }],
    ['[]', { containers: 1, values: 1, depth: 1, elements: 0, members: 0 }],
    ['[ \n\t\r ]', { containers: 1, values: 1, depth: 1, elements: 0, members: 0 }],
    ['[1]', { containers: 1, values: 2, depth: 1, elements: 0, members: 0 }],
    ['[[],{}]', { containers: 3, values: 3, depth: 2, elements: 2, members: 0 }],
    ['[ [ ] , 1 , null ]', { containers: 2, values: 4, depth: 2, elements: 3, members: 0 }],
    ['{"a":{"b":[true]},"c":"d"}', { containers: 3, values: 5, depth: 3, elements: 2, members: 3 }],
    ['{"a":1,"a":2}', { containers: 1, values: 3, depth: 1, elements: 2, members: 2 }],
    ['["[,{","\\"[,","\\\\",1]', { containers: 1, values: 5, depth: 1, elements: 4, members: 0 }],
    ['["ü[€,😀{"]', { containers: 1, values: 2, depth: 1, elements: 0, members: 0 }],
  ])('%s', (text, expected) => {
    JSON.parse(text)
    expect(scannedCounts(text)).toEqual(expected)
  })

  test('equal those of the parsed value for strings with any characters', () => {
    const hard = fc.string({ unit: fc.constantFrom('"', '\\', '[', ',', '{', 'ü', '\u0000', 'abcdefghijklm') })
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(
          fc.double(),
          fc.boolean(),
          fc.constant(null),
          hard,
          hard.map((text) => text.repeat(9)),
        ),
        fc.array(tie('tree')),
        fc.dictionary(hard, tie('tree')),
      ),
    }))
    fc.assert(
      fc.property(tree, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
        const text = JSON.stringify(value, null, space)
        expect(scannedCounts(text)).toEqual(referenceCounts(JSON.parse(text)))
      }),
    )
  })

  test('are never lower than those of the parsed value, for any valid text', () => {
    const token = fc.constantFrom('[', ']', '{', '}', '"', ',', ':', '"a":', '1', ' ', '\\', '\\"', 'null', '[]', '"b"')
    const texts = fc.oneof(
      fc.json(),
      fc.array(token, { maxLength: 9 }).map((tokens) => tokens.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        let value: unknown
        try {
          value = JSON.parse(text)
        } catch {
          return
        }
        const [counted, parsed] = [scannedCounts(text), referenceCounts(value)]
        for (const limit of ['containers', 'values', 'depth', 'elements', 'members'] as const) {
          expect(counted[limit]).toBeGreaterThanOrEqual(parsed[limit])
        }
      }),
      { numRuns: 3_000 },
    )
  })
})

describe('limits', () => {
  test.each<[string, Partial<JsonLimits>, JsonLimit | undefined]>([
    ['[[1],2]', { containers: 2, values: 4, depth: 2 }, undefined],
    ['[[1],2]', { containers: 1 }, 'containers'],
    ['[[1],2]', { values: 3 }, 'values'],
    ['[[1],2]', { depth: 1 }, 'depth'],
    // The result is the limit that is exceeded first.
    ['[1,2,[3]]', { values: 2, depth: 1 }, 'values'],
    ['[[3],1,2]', { values: 2, depth: 1 }, 'depth'],
    ['[[1,2],[3,4]]', { elements: 2, depth: 2 }, undefined],
    ['[[1,2],[3,4,5]]', { elements: 2, depth: 2 }, 'elements'],
    ['{"a":1,"b":[1,2],"c":2}', { elements: 2, depth: 2 }, 'elements'],
    ['[{"a":1,"b":[1,2,3]},{}]', { members: 2 }, undefined],
    ['[{"a":1,"b":[1,2,3]},{"c":2}]', { members: 2 }, 'members'],
    ['{"12345":[-123,"12345",true]}', { digits: 4 }, undefined],
    ['{"a":-1234}', { digits: 4 }, 'digits'],
  ])('%s within %j: %s', (text, limits, expected) => {
    expect(exceededJsonLimit(Buffer.from(text), { ...unlimited, ...limits })).toBe(expected)
  })

  test('does not read bytes after a limit is exceeded', () => {
    const scanner = new JsonScanner({ ...unlimited, depth: 1 })
    expect(scanner.write(Buffer.from('[['))).toBe('depth')
    expect(scanner.write(Buffer.from(']]'))).toBe('depth')
  })

  test('detects the attacks that the limits prevent: millions of empty objects, open brackets or values', () => {
    const limits = { ...unlimited, containers: 1_000_000, values: 2_000_000, depth: 64 }
    expect(exceededJsonLimit(Buffer.from(`{"resourceSpans":[${'{},'.repeat(2 ** 20)}{}]}`), limits)).toBe('containers')
    expect(exceededJsonLimit(Buffer.from('['.repeat(2 ** 20)), limits)).toBe('depth')
    expect(exceededJsonLimit(Buffer.from(`[${'0,'.repeat(2 ** 21)}0]`), limits)).toBe('values')
  })
})

test('the result does not depend on how the bytes are split into chunks', () => {
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', ',', 'ü', 'abcdefghijklmnop'), maxLength: 40 }),
  )
  fc.assert(
    fc.property(text, fc.array(fc.nat(60), { maxLength: 8 }), fc.nat(6), (body, sizes, most) => {
      const bytes = Buffer.from(body)
      const limits = { containers: most, values: most * 2, depth: most, elements: most, members: most, digits: most }
      const scanner = new JsonScanner(limits)
      let at = 0
      for (const size of sizes) {
        scanner.write(bytes.subarray(at, at + size))
        at += size
      }
      expect(scanner.write(bytes.subarray(at))).toBe(exceededJsonLimit(bytes, limits))
    }),
    { numRuns: 2_000 },
  )
})

test('ignores an empty chunk between a backslash and the escaped character', () => {
  const scanner = new JsonScanner({ ...unlimited, containers: 1 })
  for (const chunk of ['["\\', '', '"[["]']) expect(scanner.write(Buffer.from(chunk))).toBeUndefined()
  expect(scanner.write(Buffer.from('['))).toBe('containers')
})

test('returns a result for malformed bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const limits = { ...unlimited, containers: 3, values: 5, depth: 2 }
      expect(['containers', 'values', 'depth', undefined]).toContain(exceededJsonLimit(bytes, limits))
    }),
  )
  expect(exceededJsonLimit(Buffer.from(']]]][[['), { ...unlimited, depth: 2 })).toBe('depth')
})
