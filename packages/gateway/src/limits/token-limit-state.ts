import { type IngestSignal, ingestSignalNames } from '../ingest/signals.ts'
import type { TokenLimits } from '../tokens/token-record.ts'
import { TokenBucket } from './token-bucket.ts'
import { type LimitScope, TokenUse } from './token-use.ts'

type Measure = 'requests' | 'bytes'
const measures: readonly Measure[] = ['requests', 'bytes']

export interface RateLimit {
  /** `traces.second.bytes` */
  readonly limit: string
  readonly measure: Measure
  readonly bucket: TokenBucket
  readonly perSecond: number
}

export interface DailyQuota {
  /** `all.day.bytes` */
  readonly limit: string
  readonly measure: Measure
  readonly counted: LimitScope
  readonly perDay: number
}

interface SignalLimits {
  readonly rates: readonly RateLimit[]
  readonly quotas: readonly DailyQuota[]
}

const noLimits: SignalLimits = { rates: [], quotas: [] }

/** The limits of one token, ready to be asked, and how much of them is used up. */
export class TokenLimitState {
  readonly use = new TokenUse()
  /** Day, counted from 1970, of the last request. */
  lastDay: number
  #limits: TokenLimits | undefined
  #bySignal = new Map<IngestSignal, SignalLimits>()
  #rates = new Map<string, RateLimit>()

  constructor(day: number) {
    this.lastDay = day
  }

  /** Those that hold for a signal: its own, and those of all signals. */
  of(signal: IngestSignal): SignalLimits {
    return this.#bySignal.get(signal) ?? noLimits
  }

  /** Limits come as a new object with each change of any token; what is used up stays. */
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
    counted: LimitScope,
    limits: TokenLimits,
    known: ReadonlyMap<string, RateLimit>,
    instances: number,
    atMs: number,
  ): SignalLimits {
    const rates: RateLimit[] = []
    const quotas: DailyQuota[] = []
    for (const measure of measures) {
      const perSecond = limits[counted]?.second?.[measure]
      if (perSecond !== undefined) {
        const limit = `${counted}.second.${measure}`
        const bucket = known.get(limit)?.bucket ?? new TokenBucket(perSecond, instances, atMs)
        bucket.setRate(perSecond, instances)
        const gate = { limit, measure, bucket, perSecond }
        this.#rates.set(limit, gate)
        rates.push(gate)
      }
      const perDay = limits[counted]?.day?.[measure]
      if (perDay !== undefined) quotas.push({ limit: `${counted}.day.${measure}`, measure, counted, perDay })
    }
    return { rates, quotas }
  }
}
