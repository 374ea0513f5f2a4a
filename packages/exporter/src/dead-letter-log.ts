import type { Log } from '@penstock/runtime'
import { signalOfLane } from './export-key.ts'
import type { DeadClass } from './export-metrics.ts'

const LINE_EVERY_MS = 3_600_000
/** Lanes whose last line is remembered. */
const MAX_LANES = 10_000
/** Of one line. */
const MAX_SCOPES = 5

const told = {
  authentication: {
    level: 'error',
    event: 'export.authentication_refused',
    text: 'the endpoint refuses the credential; the exports are kept for a replay',
  },
  dead: { level: 'warn', event: 'export.dead', text: 'an export was given up; it is kept for a replay' },
  failing: {
    level: 'warn',
    event: 'export.failing',
    text: 'exports have waited for a minute and more; they are tried again',
  },
  remark: {
    level: 'warn',
    event: 'export.accepted_with_remark',
    text: 'the endpoint has accepted an export, perhaps not in full; it is not sent again',
  },
} as const

/** What a line is about. */
export interface Told {
  readonly lane: string
  /** Whose exports. */
  readonly scopes: readonly string[]
  /** One line, without secrets. */
  readonly reason: string
}

interface LastLine {
  /** When the hour began. */
  readonly atMs: number
  /** In this hour. */
  readonly named: readonly string[]
  /** Since the last line. */
  unsaid: number
  readonly scopes: Set<string>
}

/**
 * One line per lane, class and hour: what is refused is refused by the thousand. The next line says how many there were.
 * Owners of a refused credential that no line of the hour has named have another, until a few are named: each may have to
 * mend it.
 */
export class DeadLetterLog {
  readonly #log: Log
  readonly #lines = new Map<string, LastLine>()

  constructor(log: Log) {
    this.#log = log
  }

  dead(deadClass: DeadClass, about: Told, nowMs: number): void {
    if (deadClass === 'authentication') this.#tell('authentication', about, nowMs)
    else this.#tell('dead', { class: deadClass, ...about }, nowMs)
  }

  /** It has waited for a while, and is tried again. */
  failing(about: Told, nowMs: number): void {
    this.#tell('failing', about, nowMs)
  }

  /** Items were rejected, or the reply was none of OTLP. */
  remark(about: Told, nowMs: number): void {
    this.#tell('remark', about, nowMs)
  }

  #tell(kind: keyof typeof told, about: Told & { readonly class?: DeadClass }, nowMs: number): void {
    const key = `${kind} ${about.class ?? ''} ${about.lane}`
    const last = this.#lines.get(key)
    const isSameHour = last !== undefined && nowMs < last.atMs + LINE_EVERY_MS && nowMs >= last.atMs
    const named = isSameHour ? last.named : []
    const unnamed = about.scopes.filter((scope) => !named.includes(scope))
    const isForUnnamed = kind === 'authentication' && unnamed.length > 0 && named.length < MAX_SCOPES
    if (isSameHour && !isForUnnamed) {
      last.unsaid += 1
      for (const scope of about.scopes) if (last.scopes.size < MAX_SCOPES) last.scopes.add(scope)
      return
    }
    if (last === undefined && this.#lines.size >= MAX_LANES) this.#lines.clear()
    const scopes = [...new Set([...unnamed, ...(last?.scopes ?? [])])].slice(0, MAX_SCOPES)
    const atMs = isSameHour ? last.atMs : nowMs
    this.#lines.set(key, { atMs, named: [...named, ...scopes], unsaid: 0, scopes: new Set() })
    const { level, event, text } = told[kind]
    const { lane, ...others } = about
    const unsaid = last !== undefined && last.unsaid > 0 && { unsaid: last.unsaid }
    this.#log[level]({ event, signal: signalOfLane(lane), ...others, scopes, lane, ...unsaid }, text)
  }
}
