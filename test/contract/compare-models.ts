/** Two different values at the same place of two models. If one list is longer, the other side has `undefined`. */
export interface Difference {
  /** The property names and list positions: `resources.0.scopes.0.items.2.attributes.5`. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

export interface Comparison {
  /** The number of compared values: scalars, and attribute values, each of which is counted as one. */
  readonly compared: number
  readonly differences: readonly Difference[]
}

/**
 * Compares two decoded messages value by value. A tagged value (`{ type, value }`: AnyValue, KeyValue, the value of a
 * data point) is counted as one, because its type and value differ together.
 */
export function compareModels(expected: unknown, actual: unknown): Comparison {
  const differences: Difference[] = []
  let compared = 0
  const visit = (path: string, a: unknown, b: unknown): void => {
    if (isBranch(a) && isBranch(b)) {
      const before = compared
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        visit(path === '' ? key : `${path}.${key}`, a[key], b[key])
      }
      if (compared === before) compared += 1
      return
    }
    compared += 1
    if (!equalValues(a, b)) differences.push({ path, expected: a, actual: b })
  }
  visit('', expected, actual)
  return { compared, differences }
}

type Branch = Readonly<Record<string, unknown>>

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !isTagged(value)
}

const isTagged = (value: object): value is { type: string; value: unknown; key?: string } =>
  'type' in value && 'value' in value

function equalValues(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => equalValues((a as Branch)[key], (b as Branch)[key]))
}
