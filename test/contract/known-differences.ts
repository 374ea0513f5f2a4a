import type { AnyValue } from '@penstock/otlp'
import type { Comparison, Difference } from './compare-models.ts'

/** A difference that is not ours to remove. */
export interface KnownDifference {
  readonly id: string
  readonly reason: string
  covers(difference: Difference): boolean
}

/** Beyond it a double does not tell neighbours apart. */
const LARGEST_SAFE = 2n ** 53n

/** From here on the nearest double of an int64 is 2^63, which is none. */
const NEXT_TO_2_63 = 2n ** 63n - 512n

const unsetStatus: KnownDifference = {
  id: 'unset status written',
  reason: 'both hold a status in every span and write it; UNSET without a message means the same as none',
  covers({ path, expected, actual }) {
    const status = actual as { code: number; message: string } | undefined
    return /\.status$/.test(path) && expected === undefined && status?.code === 0 && status.message === ''
  },
}

/** What the Collector changes of what it was sent. */
export const collectorChanges: readonly KnownDifference[] = [unsetStatus]

/**
 * What is lost between our requests and the bytes of an exporter of the OpenTelemetry JS SDK. What the Collector changes
 * is among it.
 */
export const sdkLosses: readonly KnownDifference[] = [
  unsetStatus,
  {
    id: 'exemplars',
    reason: 'data points of the SDK have no place for exemplars, and otlp-transformer writes none',
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
    reason: 'the SDK has no integers but JavaScript numbers; which neighbour is written depends on the encoding',
    covers: ({ expected, actual }) =>
      isAny(expected, 'int') &&
      (expected.value > LARGEST_SAFE || expected.value < -LARGEST_SAFE) &&
      (isAny(actual, 'int') || isAny(actual, 'double')) &&
      Number(actual.value) === Number(expected.value),
  },
  {
    id: 'int next to 2^63 → largest double below',
    reason: 'the nearest double is no int64, and receivers refuse a request that holds it in JSON',
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

/** What was compared, and what came of it. A test that compares nothing, or excuses what never happens, must fail. */
export class Reckoning {
  readonly #known: readonly KnownDifference[]
  compared = 0
  /** Times each known difference was met. */
  readonly met: Record<string, number>
  /** Differences that nobody knows, as text; the first few. */
  readonly unexplained: string[] = []

  constructor(known: readonly KnownDifference[]) {
    this.#known = known
    this.met = Object.fromEntries(known.map(({ id }) => [id, 0]))
  }

  add(where: string, { compared, differences }: Comparison): void {
    this.compared += compared
    for (const difference of differences) {
      const known = this.#known.find((row) => row.covers(difference))
      if (known !== undefined) this.met[known.id]! += 1
      else if (this.unexplained.length < 20) this.unexplained.push(`${where}: ${textOf(difference)}`)
    }
  }

  /** Known differences that did not occur: their rows are out of date. */
  get unmet(): string[] {
    return Object.keys(this.met).filter((id) => this.met[id] === 0)
  }
}

function textOf({ path, expected, actual }: Difference): string {
  return `${path}: ${plain(expected)} → ${plain(actual)}`
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each)) ?? 'nothing'
}
