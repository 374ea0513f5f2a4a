import { decodeRequest, OtlpDecodeError, type Signal } from '@penstock/otlp'

/** Returns the number of spans, data points or log records in an uncompressed body; 0 if it cannot be decoded. */
export function countItems(signal: Signal, body: Uint8Array): number {
  try {
    return itemCounts[signal](body)
  } catch (error) {
    if (error instanceof OtlpDecodeError) return 0
    throw error
  }
}

const itemCounts: Readonly<Record<Signal, (body: Uint8Array) => number>> = {
  traces: (body) =>
    sum(decodeRequest('traces', body, 'protobuf').resources, ({ scopes }) => sum(scopes, ({ items }) => items.length)),
  logs: (body) =>
    sum(decodeRequest('logs', body, 'protobuf').resources, ({ scopes }) => sum(scopes, ({ items }) => items.length)),
  metrics: (body) =>
    sum(decodeRequest('metrics', body, 'protobuf').resources, ({ scopes }) =>
      sum(scopes, ({ items }) => sum(items, ({ data }) => data?.dataPoints.length ?? 0)),
    ),
}

function sum<Element>(elements: readonly Element[], of: (element: Element) => number): number {
  return elements.reduce((total, element) => total + of(element), 0)
}

/**
 * Splits `total` into whole shares in proportion to `counts`, none larger than its count. The shares add up to `total`,
 * or to the sum of `counts` if that is smaller.
 *
 * Shares are rounded down first; the rest is given to the largest remainders, the earliest first among equal ones.
 */
export function sharesOf(total: bigint, counts: readonly number[]): readonly bigint[] {
  const weights = counts.map(BigInt)
  const all = weights.reduce((one, other) => one + other, 0n)
  if (total >= all) return weights
  const floors = weights.map((weight) => (weight * total) / all)
  let left = total - floors.reduce((one, other) => one + other, 0n)
  const byRemainder = weights
    .map((weight, index) => ({ index, remainder: (weight * total) % all }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder < b.remainder ? 1 : -1))
  for (const { index } of byRemainder) {
    if (left === 0n) break
    floors[index]! += 1n
    left -= 1n
  }
  return floors
}
