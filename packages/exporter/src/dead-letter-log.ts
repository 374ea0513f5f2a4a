import type { Log } from '@penstock/runtime'
import type { DeadClass } from './export-metrics.ts'

const LINE_EVERY_MS = 3_600_000
/** Lanes whose last line is remembered. */
const MAX_LANES = 10_000

/** One line per lane, class and hour: what is refused is refused by the thousand. The next line says how many there were. */
export class DeadLetterLog {
  readonly #log: Log
  readonly #lines = new Map<string, { readonly atMs: number; unsaid: number }>()

  constructor(log: Log) {
    this.#log = log
  }

  /** @param reason one line, without secrets */
  dead(lane: string, deadClass: DeadClass, reason: string, nowMs: number): void {
    const key = `${deadClass} ${lane}`
    const last = this.#lines.get(key)
    if (last !== undefined && nowMs < last.atMs + LINE_EVERY_MS && nowMs >= last.atMs) {
      last.unsaid += 1
      return
    }
    if (last === undefined && this.#lines.size >= MAX_LANES) this.#lines.clear()
    this.#lines.set(key, { atMs: nowMs, unsaid: 0 })
    const fields = { lane, reason, ...(last !== undefined && last.unsaid > 0 && { unsaid: last.unsaid }) }
    if (deadClass === 'authentication') {
      this.#log.error(
        { event: 'export.authentication_refused', ...fields },
        'the endpoint refuses the credential; the exports are kept for a replay',
      )
    } else {
      this.#log.warn(
        { event: 'export.dead', class: deadClass, ...fields },
        'an export was given up; it is kept for a replay',
      )
    }
  }
}
