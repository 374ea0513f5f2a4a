import type { AnyValue } from '@penstock/otlp'
import { collectorChanges, type KnownDifference } from '../contract/known-differences.ts'

/** The differences between sent spans and those that `/api/v3` of Jaeger returns from its memory. */
export const jaegerMemoryLosses: readonly KnownDifference[] = [...collectorChanges]

/** The differences of spans that Jaeger keeps on disk. */
export const jaegerDiskLosses: readonly KnownDifference[] = [...collectorChanges]

/** The differences that the JSON of the user interface adds. Grafana reads the same JSON. */
export const jaegerUiLosses: readonly KnownDifference[] = [
  {
    id: 'times in nanoseconds',
    reason: 'microseconds: the start is rounded down, and so is the duration',
    covers: ({ path, expected, actual }) =>
      /TimeUnixNano$/.test(path) &&
      typeof expected === 'bigint' &&
      typeof actual === 'bigint' &&
      expected - actual >= 0n &&
      expected - actual < 2000n,
  },
  {
    id: 'a list as the value of an attribute',
    reason: 'a text with the list as JSON',
    covers: ({ expected, actual }) =>
      isAny(expected, 'array') &&
      isAny(actual, 'string') &&
      actual.value === JSON.stringify(expected.value.map(({ value }) => value)),
  },
]

function isAny<T extends AnyValue['type']>(value: unknown, type: T): value is Extract<AnyValue, { type: T }> {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type
}
