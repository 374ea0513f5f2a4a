import type { AnyValue } from '@penstock/otlp'
import type { Comparison, Difference } from './compare-models.ts'

/** A difference that other software causes, and that we cannot avoid. */
export interface KnownDifference {
  readonly id: string
  readonly reason: string
  covers(difference: Difference): boolean
}

/** The largest integer up to which doubles represent every integer. */
const LARGEST_SAFE = 2n ** 53n

/** The smallest int64 with 2^63 as its nearest double, which is not an int64. */
const NEXT_TO_2_63 = 2n ** 63n - 512n

const unsetStatus: KnownDifference = {
  id: 'unset status written',
  reason: 'both write a status for every span; UNSET without a message means the same as no status',
  covers({ path, expected, actual }) {
    const status = actual as { code: number; message: string } | undefined
    return /\.status$/.test(path) && expected === undefined && status?.code === 0 && status.message === ''
  },
}

/** The changes that the Collector makes to requests. */
export const collectorChanges: readonly KnownDifference[] = [unsetStatus]

/**
 * The differences between our requests and the bytes that exporters of the OpenTelemetry JS SDK write. They include the
 * changes of the Collector.
 */
export const sdkLosses: readonly KnownDifference[] = [
  unsetStatus,
  {
    id: 'exemplars',
    reason: 'data points of the SDK cannot have exemplars, and otlp-transformer writes none',
    covers: ({ path, actual }) => /\.exemplars\.\d+$/.test(path) && actual === undefined,
  },
  {
    id: 'integral double → int',
    reason: 'a JavaScript number without a fraction is written as an integer',
    covers: ({ expected, actual }) =>
      isAny(expected, 'double') && isAny(actual, 'int') && actual.value === BigInt(expected.value),
  },
  {
    id: 'int above 2^53 → nearest double',
    reason: 'the SDK has only JavaScript numbers; the encoding determines which neighbour is written',
    covers: ({ expected, actual }) =>
      isAny(expected, 'int') &&
      (expected.value > LARGEST_SAFE || expected.value < -LARGEST_SAFE) &&
      (isAny(actual, 'int') || isAny(actual, 'double')) &&
      Number(actual.value) === Number(expected.value),
  },
  {
    id: 'int next to 2^63 → largest double below',
    reason: 'the nearest double is not an int64, and receivers reject a request that has it in JSON',
    covers: ({ expected, actual }) =>
      isAny(expected, 'int') &&
      expected.value >= NEXT_TO_2_63 &&
      isAny(actual, 'int') &&
      Number(actual.value) === 2 ** 63 - 1024,
  },
]

function isAny<T extends AnyValue['type']>(value: unknown, type: T): value is Extract<AnyValue, { type: T }> {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type
}

/**
 * Counts compared values and their differences. A test must fail if nothing was compared, or if a known difference did not
 * occur.
 */
export class DifferenceTally {
  readonly #known: readonly KnownDifference[]
  compared = 0
  /** How often each known difference occurred. */
  readonly observed: Record<string, number>
  /** The first 20 unknown differences, as text. */
  readonly unexplained: string[] = []

  constructor(known: readonly KnownDifference[]) {
    this.#known = known
    this.observed = Object.fromEntries(known.map(({ id }) => [id, 0]))
  }

  add(where: string, { compared, differences }: Comparison): void {
    this.compared += compared
    for (const difference of differences) {
      const known = this.#known.find((row) => row.covers(difference))
      if (known !== undefined) this.observed[known.id]! += 1
      else if (this.unexplained.length < 20) this.unexplained.push(`${where}: ${textOf(difference)}`)
    }
  }

  /** The known differences that did not occur, and can be removed from the list. */
  get unobserved(): string[] {
    return Object.keys(this.observed).filter((id) => this.observed[id] === 0)
  }
}

function textOf({ path, expected, actual }: Difference): string {
  return `${path}: ${plain(expected)} → ${plain(actual)}`
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each)) ?? 'nothing'
}
