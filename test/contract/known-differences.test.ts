import { signalNames } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { compareModels } from './compare-models.ts'
import { fixtureCases } from './fixture-cases.ts'
import { DifferenceTally, sdkLosses } from './known-differences.ts'

const { conversion } = fixtureCases().find(({ name }) => name === 'push-pipeline-five-jobs-three-stages')!

describe.each(signalNames)('%s', (signal) => {
  test('a change of any single value is one difference, and no known one', () => {
    const model = conversion[signal]
    let changes = 0
    for (const changed of changedOnce(model)) {
      const tally = new DifferenceTally(sdkLosses)
      tally.add('changed', compareModels(model, changed))
      expect(tally.unexplained).toHaveLength(1)
      changes += 1
    }
    expect(changes).toBe(compareModels(model, model).compared)
    expect(changes).toBeGreaterThan(300)
  })

  test('detects any list that is one element shorter', () => {
    const model = conversion[signal]
    let changes = 0
    for (const changed of shortenedOnce(model)) {
      expect(compareModels(model, changed).differences.length).toBeGreaterThan(0)
      expect(compareModels(changed, model).differences.length).toBeGreaterThan(0)
      changes += 1
    }
    expect(changes).toBeGreaterThan(8)
  })
})

type Branch = Readonly<Record<string, unknown>>
const isBranch = (value: unknown): value is Branch => typeof value === 'object' && value !== null
const isTagged = (value: Branch): boolean => 'type' in value && 'value' in value

/** Yields copies of a model, each with one scalar, attribute value or empty list changed. */
function* changedOnce(value: unknown): Generator<unknown> {
  if (!isBranch(value)) yield otherScalar(value)
  else if (isTagged(value)) yield { ...value, value: Array.isArray(value.value) ? [] : otherScalar(value.value) }
  else if (Object.keys(value).length === 0) yield Array.isArray(value) ? ['more'] : { more: 'more' }
  else yield* withOneChild(value, changedOnce)
}

/** Yields copies of a model, each without the last element of one list. */
function* shortenedOnce(value: unknown): Generator<unknown> {
  if (!isBranch(value) || isTagged(value)) return
  if (Array.isArray(value) && value.length > 0) yield value.slice(0, -1)
  yield* withOneChild(value, shortenedOnce)
}

function* withOneChild(value: Branch, changes: (child: unknown) => Generator<unknown>): Generator<unknown> {
  for (const key of Object.keys(value)) {
    for (const child of changes(value[key])) {
      const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value }
      copy[key] = child
      yield copy
    }
  }
}

function otherScalar(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return `${value}x`
    case 'number':
      return value + 1
    case 'bigint':
      // More than the distance between two doubles that are nanoseconds since 1970.
      return value + 1_000n
    case 'boolean':
      return !value
    default:
      return 'something'
  }
}
