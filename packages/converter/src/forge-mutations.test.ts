import { isObject, type JsonObject, RecordError, readInput } from '@penstock/forges'
import type { Span } from '@penstock/otlp'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { convert } from './convert.ts'
import { optionsFor, runBodies } from './forge-bodies.harness.ts'
import { exportDecision } from './run/export-decision.ts'

type Path = readonly (string | number)[]

/** Returns the paths of all members and items of a value. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : isObject(value)
      ? Object.entries(value)
      : []
  return entries.flatMap(([key, inner]) => [[...path, key], ...pathsOf(inner, [...path, key])])
}

/** Returns a value with another one at a path; with `undefined`, the member is left out. */
function replaced(value: unknown, [key, ...rest]: Path, other: unknown): unknown {
  if (key === undefined) return other
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? replaced(item, rest, other) : item))
  if (!isObject(value)) return value
  const inner = replaced(value[key], rest, other)
  return Object.fromEntries(Object.entries({ ...value, [key]: inner }).filter(([, each]) => each !== undefined))
}

/** Values that a member of another type, another version or another time could have. */
const others: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  'constructor',
  '__proto__',
  '2026-02-30T25:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  'https://ci.example.com/job/x/3/',
  '{}',
  'someone@example.com',
  0,
  -1,
  0.5,
  1e300,
  2 ** 53,
  2n ** 63n,
  true,
  [],
  [null],
  {},
  [{}],
]

const bodies = runBodies().map(({ body }) => ({ body, paths: pathsOf(body) }))

const mayShowAddresses: ReadonlySet<string | undefined> = new Set(['gitlab', 'penstock'])

const isInOrder = ({ startTimeUnixNano, endTimeUnixNano }: Span): boolean =>
  startTimeUnixNano > 0n && startTimeUnixNano <= endTimeUnixNano && endTimeUnixNano < 2n ** 63n

function convertOrRefuse(body: unknown): void {
  try {
    const input = readInput(body as JsonObject, { receivedAtNs: 1_790_000_000_000_000_000n })
    if (input.kind !== 'pipeline') return
    const options = optionsFor(input.record)
    exportDecision(input.record, options)
    const { traces } = convert(input.record, options)
    const spans = traces.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
    expect(spans.filter((span) => !isInOrder(span))).toEqual([])
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    for (const { attributes } of spans) {
      for (const { key, value } of attributes) {
        expect([key, Number.isNaN(value) || value === '']).toEqual([key, false])
        // Some forges show an address where a user has no name. GitLab does not, and senders of records of our own know what they send.
        if (!mayShowAddresses.has(input.record.forge) && /user\.(id|username)$/.test(key))
          expect([key, String(value).includes('@')]).toEqual([key, false])
      }
    }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
  }
}

test('a payload of any forge with another value in any place is converted or refused', () => {
  const changed = fc
    .constantFrom(...bodies)
    .chain(({ body, paths }) => fc.tuple(fc.constant(body), fc.constantFrom(...paths), fc.constantFrom(...others)))
  fc.assert(
    fc.property(changed, ([body, path, other]) => convertOrRefuse(replaced(body, path, other))),
    { numRuns: 1_000 },
  )
})
