import type { Log } from '@penstock/runtime'
import type { DeadClass } from './export-metrics.ts'

const LINE_EVERY_MS = 3_600_000
/** Lanes whose last line is remembered. */
const MAX_LANES = 10_000

const told = {
  authentication: {
    level: 'error',
    event: 'export.authentication_refused',
    text: 'the endpoint refuses the credential; the exports are kept for a replay',
  },
  dead: { level: 'warn', event: 'export.dead', text: 'an export was given up; it is kept for a replay' },
  remark: {
    level: 'warn',
    event: 'export.accepted_with_remark',
    text: 'the endpoint has accepted an export, perhaps not in full; it is not sent again',
  },
} as const

/** One line per lane, class and hour: what is refused is refused by the thousand. The next line says how many there were. */
export class DeadLetterLog {
  readonly #log: Log
  readonly #lines = new Map<string, { readonly atMs: number; unsaid: number }>()

  constructor(log: Log) {
    this.#log = log
  }

  /** @param reason one line, without secrets */
  dead(lane: string, deadClass: DeadClass, reason: string, nowMs: number): void {
    if (deadClass === 'authentication') this.#tell('authentication', { lane, reason }, nowMs)
    else this.#tell('dead', { class: deadClass, lane, reason }, nowMs)
  }

  /** Items were rejected, or the reply was none of OTLP. @param reason one line, without secrets */
  remark(lane: string, reason: string, nowMs: number): void {
    this.#tell('remark', { lane, reason }, nowMs)
  }

  #tell(
    kind: keyof typeof told,
    fields: { readonly class?: DeadClass; readonly lane: string; readonly reason: string },
    nowMs: number,
  ): void {
    const key = `${kind} ${fields.class ?? ''} ${fields.lane}`
    const last = this.#lines.get(key)
    if (last !== undefined && nowMs < last.atMs + LINE_EVERY_MS && nowMs >= last.atMs) {
      last.unsaid += 1
      return
    }
    if (last === undefined && this.#lines.size >= MAX_LANES) this.#lines.clear()
    this.#lines.set(key, { atMs: nowMs, unsaid: 0 })
    const { level, event, text } = told[kind]
    const unsaid = last !== undefined && last.unsaid > 0 && { unsaid: last.unsaid }
    this.#log[level]({ event, ...fields, ...unsaid }, text)
  }
}
