import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'
import type { TokenLimits } from '../contract/token-record.ts'
import { TokenBucket } from './token-bucket.ts'
import { type LimitScope, TokenUse } from './token-use.ts'

type Measure = 'requests' | 'bytes'
const measures: readonly Measure[] = ['requests', 'bytes']

export interface RateLimit {
  /** The name of the limit, such as `traces.second.bytes`. */
  readonly limit: string
  readonly measure: Measure
  readonly bucket: TokenBucket
  readonly perSecond: number
}

interface DailyQuota {
  /** The name of the limit, such as `all.day.bytes`. */
  readonly limit: string
  readonly measure: Measure
  readonly scope: LimitScope
  readonly perDay: number
}

interface SignalLimits {
  readonly rates: readonly RateLimit[]
  readonly quotas: readonly DailyQuota[]
}

/** Returns whether limits contain a daily quota. */
export const haveQuota = (limits: TokenLimits): boolean =>
  Object.values(limits).some((windows) => windows?.day !== undefined)

const noLimits: SignalLimits = { rates: [], quotas: [] }

/** The limits of one token, grouped by signal, and the token's usage. */
export class TokenLimitState {
  readonly use = new TokenUse()
  /** The day of the last request, counted from 1970. */
  lastDay: number
  #limits: TokenLimits | undefined
  #bySignal = new Map<IngestSignal, SignalLimits>()
  #rates = new Map<string, RateLimit>()

  constructor(day: number) {
    this.lastDay = day
  }

  /** Returns the limits that apply to a signal: its own and those for all signals together. */
  of(signal: IngestSignal): SignalLimits {
    return this.#bySignal.get(signal) ?? noLimits
  }

  /**
   * Replaces the limits if `limits` is a new object, and keeps the usage. Any change of a token creates a new object.
   */
  setLimits(limits: TokenLimits, instances: number, atMs: number): void {
    if (limits === this.#limits) return
    this.#limits = limits
    const known = this.#rates
    this.#rates = new Map()
    const all = this.#limitsOf('all', limits, known, instances, atMs)
    this.#bySignal = new Map(
      ingestSignalNames.map((signal) => {
        const own = this.#limitsOf(signal, limits, known, instances, atMs)
        return [signal, { rates: [...own.rates, ...all.rates], quotas: [...own.quotas, ...all.quotas] }]
      }),
    )
  }

  setInstances(instances: number): void {
    for (const { bucket, perSecond } of this.#rates.values()) bucket.setRate(perSecond, instances)
  }

  #limitsOf(
    scope: LimitScope,
    limits: TokenLimits,
    known: ReadonlyMap<string, RateLimit>,
    instances: number,
    atMs: number,
  ): SignalLimits {
    const rates: RateLimit[] = []
    const quotas: DailyQuota[] = []
    for (const measure of measures) {
      const perSecond = limits[scope]?.second?.[measure]
      if (perSecond !== undefined) {
        const limit = `${scope}.second.${measure}`
        const bucket = known.get(limit)?.bucket ?? new TokenBucket(perSecond, instances, atMs)
        bucket.setRate(perSecond, instances)
        const gate = { limit, measure, bucket, perSecond }
        this.#rates.set(limit, gate)
        rates.push(gate)
      }
      const perDay = limits[scope]?.day?.[measure]
      if (perDay !== undefined) quotas.push({ limit: `${scope}.day.${measure}`, measure, scope, perDay })
    }
    return { rates, quotas }
  }
}
