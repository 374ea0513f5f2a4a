import type { AnyValue } from '@penstock/otlp'
import { collectorChanges, type KnownDifference } from '../contract/known-differences.ts'

const schemaUrls = lost('URLs of schemas', /^(?:resource|scope)SchemaUrl$/)

/** The changes that Jaeger makes to all spans. */
const always: readonly KnownDifference[] = [
  ...collectorChanges.map((each) => ({ ...each, id: 'no status', reason: 'the status UNSET, which means the same' })),
  schemaUrls,
  {
    id: 'a span of zero length, which a job that never ran has',
    reason: 'ends a nanosecond later, and has a warning about a negative duration',
    covers: ({ path, expected, actual }) =>
      path === 'item.endTimeUnixNano'
        ? (actual as bigint) - (expected as bigint) === 1n
        : path === 'item.warnings' && isEvery(actual, /^Negative duration detected/),
  },
]

/** The changes of the form of spans that Jaeger has apart from OTLP. Its storages other than the memory use it, and so does its user interface. */
const ownForm: readonly KnownDifference[] = [
  {
    id: 'a list as the value of an attribute',
    reason: 'a text with the list as JSON',
    covers: ({ expected, actual }) =>
      isAny(expected, 'array') &&
      isAny(actual, 'string') &&
      actual.value === JSON.stringify(expected.value.map(({ value }) => value)),
  },
  lost('flags of a span', /^item\.flags$/),
  lost('flags of a link', /^item\.links\.\d+\.flags$/),
  {
    id: 'attributes of a link',
    reason: 'not in the answer; `/api/v3` has `opentracing.ref_type` instead',
    covers: ({ path, actual }) =>
      /^item\.links\.\d+\.attributes\.\d+$/.test(path) &&
      (actual === undefined || (actual as { key?: string }).key === 'opentracing.ref_type'),
  },
]

/** The differences between sent spans and those that `/api/v3` of Jaeger returns from its memory. */
export const jaegerMemoryLosses: readonly KnownDifference[] = always

/** The differences of spans that Jaeger keeps on disk. */
export const jaegerDiskLosses: readonly KnownDifference[] = [...always, ...ownForm]

/** The differences of the JSON that the user interface and Grafana read. */
export const jaegerUiLosses: readonly KnownDifference[] = [
  {
    id: 'times in nanoseconds',
    reason: 'microseconds: the start is rounded down, and so is the duration',
    covers: ({ path, expected, actual }) =>
      /TimeUnixNano$/.test(path) &&
      typeof expected === 'bigint' &&
      typeof actual === 'bigint' &&
      expected > actual &&
      expected - actual < 2000n,
  },
  {
    id: 'a span that has no length, has no parent in its trace, or is not within the time of its parent',
    reason: 'has a warning; its times stay as they are',
    covers: ({ path, actual }) => path === 'item.warnings' && isEvery(actual, shownWarnings),
  },
  schemaUrls,
  ...ownForm,
]

const shownWarnings = /^(?:clock skew adjustment disabled|Negative duration detected|invalid parent span IDs=)/

function lost(id: string, path: RegExp): KnownDifference {
  return {
    id,
    reason: 'not in the answer',
    covers: (difference) =>
      path.test(difference.path) && [undefined, '', 0].some((nothing) => nothing === difference.actual),
  }
}

const isEvery = (value: unknown, pattern: RegExp): boolean =>
  Array.isArray(value) && value.every((each) => pattern.test(each))

function isAny<T extends AnyValue['type']>(value: unknown, type: T): value is Extract<AnyValue, { type: T }> {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type
}
