import type { Clock } from '@penstock/runtime'

/** A maximum count per period. Periods begin at multiples of their length since 1970. */
export interface Limit {
  readonly count: number
  readonly periodSeconds: number
}

/** A count in a period. */
export interface Counted {
  readonly observed: number
  /** The end of the period, in milliseconds since 1970. */
  readonly endsAtMs: number
  /** The whole seconds until the end of the period, at least 1. */
  readonly secondsLeft: number
}

/** The number of keys that are counted separately in one period; further keys share `SHARED_KEYS` counts. */
const MAX_KEYS = 100_000
const SHARED_KEYS = 1_024

/** Counts by key, in the memory of this process, in periods that begin at multiples of their length since 1970. */
export class WindowCounter {
  readonly #periodSeconds: number
  readonly #clock: Clock
  #window = Number.NaN
  #counts = new Map<string, number>()

  constructor(periodSeconds: number, clock: Clock) {
    this.#periodSeconds = periodSeconds
    this.#clock = clock
  }

  /** Counts one more. */
  count(key: string): Counted {
    return this.#add(key, 1)
  }

  /** Reverses `count`. */
  uncount(key: string): void {
    this.#add(key, -1)
  }

  /** Returns what `count` would return, without counting. */
  peek(key: string): Counted {
    this.#enterWindow()
    return this.#toCounted((this.#counts.get(this.#boundedKey(key)) ?? 0) + 1)
  }

  #add(key: string, points: 1 | -1): Counted {
    this.#enterWindow()
    const bounded = this.#boundedKey(key)
    const observed = (this.#counts.get(bounded) ?? 0) + points
    this.#counts.set(bounded, observed)
    return this.#toCounted(observed)
  }

  #enterWindow(): void {
    const { window } = windowAt(this.#periodSeconds, this.#clock.nowMs())
    if (window === this.#window) return
    this.#window = window
    this.#counts = new Map()
  }

  #toCounted(observed: number): Counted {
    const { endsAtMs, secondsLeft } = windowAt(this.#periodSeconds, this.#clock.nowMs())
    return { observed, endsAtMs, secondsLeft }
  }

  #boundedKey(key: string): string {
    if (this.#counts.has(key) || this.#counts.size < MAX_KEYS) return key
    return `shared:${hashOf(key) % SHARED_KEYS}`
  }
}

/** Returns the period at a time: its number since 1970, its end, and the whole seconds until then, at least 1. */
export function windowAt(periodSeconds: number, nowMs: number) {
  const window = Math.floor(nowMs / (periodSeconds * 1_000))
  const endsAtMs = (window + 1) * periodSeconds * 1_000
  return { window, endsAtMs, secondsLeft: Math.max(1, Math.ceil((endsAtMs - nowMs) / 1_000)) }
}

function hashOf(text: string): number {
  let hash = 0
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0
  return hash
}
