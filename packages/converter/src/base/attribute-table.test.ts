import type { KeyValue } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { type AttributeTable, attributesFrom, compileTable, vendorKey } from './attribute-table.ts'
import { newTally } from './text.ts'

interface Tap {
  readonly name?: string | undefined
  readonly litres?: number
  readonly number?: bigint
  readonly open?: boolean
  readonly colours?: readonly string[]
}

const absent = 'unknown'
const table: AttributeTable<Tap> = [
  { keys: ['tap.name', 'svc.tap.name'], type: 'string', from: ({ name }) => name, absent },
  { keys: ['tap.litres'], type: 'double', from: ({ litres }) => litres, absent },
  { keys: ['tap.number'], type: 'int', from: ({ number }) => number, absent },
  { keys: ['svc.tap.open'], type: 'bool', from: ({ open }) => open, extension: true, absent },
  { keys: ['tap.colours'], type: 'string[]', from: ({ colours }) => colours, absent },
]
const compiled = compileTable(table, { vendorNamespace: 'svc', extensions: true, extraAttributes: false })

const attributesOf = (tap: Tap, tally = newTally()): KeyValue[] => attributesFrom(compiled, tap, tally)
const listValues = (tap: Tap) => attributesOf(tap).map(({ value }) => value)

test.each([
  ['svc.cicd.link.type', 'gitlab', 'gitlab.cicd.link.type'],
  ['svc.cicd.link.type', 'svc', 'svc.cicd.link.type'],
  ['cicd.svc.link', 'gitlab', 'cicd.svc.link'],
  ['svcs.link', 'gitlab', 'svcs.link'],
  ['svc', 'gitlab', 'svc'],
])('%s under %s is %s', (key, namespace, expected) => expect(vendorKey(key, namespace)).toBe(expected))

describe('compiling', () => {
  const keysOf = (options: { vendorNamespace: string; extensions: boolean; extraAttributes: boolean }) =>
    compileTable(table, options).rows.flatMap(({ keys }) => keys)

  test('replaces svc by the vendor namespace', () => {
    expect(keysOf({ vendorNamespace: 'gitlab', extensions: true, extraAttributes: false })).toEqual([
      'tap.name',
      'gitlab.tap.name',
      'tap.litres',
      'tap.number',
      'gitlab.tap.open',
      'tap.colours',
    ])
  })

  test('leaves out extensions on request', () => {
    expect(keysOf({ vendorNamespace: 'svc', extensions: false, extraAttributes: false })).not.toContain('svc.tap.open')
  })

  test('does not change the table', () => {
    expect(table[0]!.keys).toEqual(['tap.name', 'svc.tap.name'])
    expect(table).toHaveLength(5)
  })
})

test('returns every row in table order, each key with the declared type', () => {
  const tap = { colours: ['red', 'blue'], open: false, number: 7n, litres: 3, name: 'north' }
  expect(attributesOf(tap)).toEqual([
    { key: 'tap.name', type: 'string', value: 'north' },
    { key: 'svc.tap.name', type: 'string', value: 'north' },
    { key: 'tap.litres', type: 'double', value: 3 },
    { key: 'tap.number', type: 'int', value: 7n },
    { key: 'svc.tap.open', type: 'bool', value: false },
    {
      key: 'tap.colours',
      type: 'array',
      value: [
        { type: 'string', value: 'red' },
        { type: 'string', value: 'blue' },
      ],
    },
  ])
})

test('returns lists that are independent of each other', () => {
  const first = attributesOf({ name: 'north', number: 1n })
  expect(attributesOf({ number: 2n }).map(({ value }) => value)).toEqual([2n])
  expect(first.map(({ value }) => value)).toEqual(['north', 'north', 1n])
})

test('does not reuse the attributes of a truncated value', () => {
  const tally = newTally()
  expect(attributesOf({ name: 'north' }, tally)[0]?.value).toBe('north')
  expect(attributesOf({ name: 'x'.repeat(5000) }, tally)[0]?.value).toBe('x'.repeat(4096))
  expect(attributesOf({ name: 'north' }, tally)[0]?.value).toBe('north')
  expect(tally.truncatedTexts).toBe(1)
})

describe('a row without a value gives no attribute', () => {
  test.each<[string, Tap]>([
    ['nothing', {}],
    ['undefined', { name: undefined }],
    ['an empty text', { name: '' }],
    ['a text of NUL', { name: '\0' }],
    ['NaN', { litres: Number.NaN }],
    ['infinity', { litres: Number.NEGATIVE_INFINITY }],
    ['an empty list', { colours: [] }],
    ['a list of empty texts', { colours: ['', '\0'] }],
  ])('%s', (_what, tap) => expect(attributesOf(tap)).toEqual([]))

  test.each<[string, Tap, unknown]>([
    ['0', { litres: 0 }, 0],
    ['0n', { number: 0n }, 0n],
    ['false', { open: false }, false],
  ])('%s is a value', (_what, tap, value) => expect(listValues(tap)).toEqual([value]))
})

describe('changed values are counted', () => {
  test('counts a text over 4,096 bytes once, even if it has several keys', () => {
    const tally = newTally()
    const [first, second] = attributesOf({ name: 'ü'.repeat(2049) }, tally)
    expect([first!.value, second!.value]).toEqual(['ü'.repeat(2048), 'ü'.repeat(2048)])
    expect(tally).toEqual({ truncatedTexts: 1, droppedElements: 0, adjustedSpans: 0 })
  })

  test('does not cut a text of 4,096 bytes', () => {
    const tally = newTally()
    expect(attributesOf({ name: 'x'.repeat(4096) }, tally)[0]!.value).toBe('x'.repeat(4096))
    expect(tally.truncatedTexts).toBe(0)
  })

  test('counts the elements after the 128th', () => {
    const tally = newTally()
    const colours = Array.from({ length: 130 }, (_, i) => `colour ${i}`)
    expect(attributesOf({ colours }, tally)[0]!.value).toHaveLength(128)
    expect(tally.droppedElements).toBe(2)
  })

  test('counts a list element that is too long', () => {
    const tally = newTally()
    const [{ value }] = attributesOf({ colours: ['red', 'x'.repeat(5000)] }, tally) as [KeyValue]
    expect(value).toEqual([
      { type: 'string', value: 'red' },
      { type: 'string', value: 'x'.repeat(4096) },
    ])
    expect(tally.truncatedTexts).toBe(1)
  })
})
