import type { Log } from '@penstock/runtime'

const LINE_EVERY_MS = 3_600_000

const kinds = {
  exported: {
    event: 'export.run_not_read',
    text: 'A run could not be read from its forge; it is exported with the jobs of its hooks',
  },
  lost: {
    event: 'export.run_lost',
    text: 'A run could not be read from its forge, and no hook describes it; it is not exported. penstock backfill reads it later',
  },
  failing: {
    event: 'export.run_read_failing',
    text: 'Runs cannot be read from their forge; they are tried again',
  },
} as const

/** Logs runs that cannot be read: a line per source, kind, cause and hour, because such failures come by the thousand. */
export class FetchLog {
  readonly #log: Log
  /** Bounded by the number of sources. */
  readonly #lines = new Map<string, { readonly atMs: number; suppressed: number }>()

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * @param about reasons have no secrets
   * @param nowMs monotonic
   */
  write(
    kind: keyof typeof kinds,
    about: { readonly source: string; readonly cause: string; readonly reason: string; readonly run: string },
    nowMs: number,
  ): void {
    const key = `${kind} ${about.source} ${about.cause}`
    const last = this.#lines.get(key)
    if (last !== undefined && nowMs < last.atMs + LINE_EVERY_MS) {
      last.suppressed += 1
      return
    }
    this.#lines.set(key, { atMs: nowMs, suppressed: 0 })
    const { event, text } = kinds[kind]
    const suppressed = last !== undefined && last.suppressed > 0 && { suppressed: last.suppressed }
    this.#log.warn({ event, ...about, ...suppressed }, text)
  }
}
