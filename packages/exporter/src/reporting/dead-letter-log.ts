import type { Log } from '@penstock/runtime'
import { signalOfLane } from '../store/export-key.ts'
import type { DeadClass } from './export-metrics.ts'

const LINE_EVERY_MS = 3_600_000
/**
 * The maximum number of lanes for which the last log line is remembered. When the limit is reached, all are forgotten.
 */
const MAX_LANES = 10_000
/** The highest number of scopes in one line. */
const MAX_SCOPES = 5

const noticeKinds = {
  authentication: {
    level: 'error',
    event: 'export.authentication_refused',
    text: 'The endpoint refuses the credential. The exports are kept; fix the token, then run penstock export-queue replay',
  },
  dead: {
    level: 'warn',
    event: 'export.dead',
    text: 'An export was given up. It is kept; run penstock export-queue replay to send it again',
  },
  failing: {
    level: 'warn',
    event: 'export.failing',
    text: 'Exports have been failing for more than a minute; they are tried again',
  },
  remark: {
    level: 'warn',
    event: 'export.accepted_with_remark',
    text: 'The endpoint accepted an export, but perhaps not in full; it is not sent again',
  },
} as const

/** The content of one log line. */
export interface FailureNotice {
  readonly lane: string
  /** The scopes of the affected exports. */
  readonly scopes: readonly string[]
  /** One line, without secrets. */
  readonly reason: string
}

interface LastLine {
  /** When the current hour began, by a monotonic clock. */
  readonly atMs: number
  /** The scopes that lines of this hour have named. */
  readonly named: readonly string[]
  /** The number of notices since the last line that were not logged. */
  suppressed: number
  readonly scopes: Set<string>
}

/**
 * Logs failed exports with one line per lane, class and hour, because failures often come by the thousand. The next line
 * says how many notices were suppressed. A refused credential is logged again for each scope that the hour's lines have not
 * named yet, up to `MAX_SCOPES`, because each owner may have to fix it.
 */
export class DeadLetterLog {
  readonly #log: Log
  readonly #lines = new Map<string, LastLine>()

  constructor(log: Log) {
    this.#log = log
  }

  logDead(deadClass: DeadClass, about: FailureNotice, atMs: number): void {
    if (deadClass === 'authentication') this.#write('authentication', about, atMs)
    else this.#write('dead', { class: deadClass, ...about }, atMs)
  }

  /** Logs exports that have been failing for a while and are tried again. */
  logFailing(about: FailureNotice, atMs: number): void {
    this.#write('failing', about, atMs)
  }

  /** Logs accepted exports with rejected items, or with a reply that is not OTLP. */
  logRemark(about: FailureNotice, atMs: number): void {
    this.#write('remark', about, atMs)
  }

  #write(kind: keyof typeof noticeKinds, about: FailureNotice & { readonly class?: DeadClass }, atMs: number): void {
    const key = `${kind} ${about.class ?? ''} ${about.lane}`
    const last = this.#lines.get(key)
    const isSameHour = last !== undefined && atMs < last.atMs + LINE_EVERY_MS
    const named = isSameHour ? last.named : []
    const unnamed = about.scopes.filter((scope) => !named.includes(scope))
    const isForUnnamed = kind === 'authentication' && unnamed.length > 0 && named.length < MAX_SCOPES
    if (isSameHour && !isForUnnamed) {
      last.suppressed += 1
      for (const scope of about.scopes) if (last.scopes.size < MAX_SCOPES) last.scopes.add(scope)
      return
    }
    if (last === undefined && this.#lines.size >= MAX_LANES) this.#lines.clear()
    const scopes = [...new Set([...unnamed, ...(last?.scopes ?? [])])].slice(0, MAX_SCOPES)
    const beganMs = isSameHour ? last.atMs : atMs
    this.#lines.set(key, { atMs: beganMs, named: [...named, ...scopes], suppressed: 0, scopes: new Set() })
    const { level, event, text } = noticeKinds[kind]
    const { lane, ...others } = about
    const suppressed = last !== undefined && last.suppressed > 0 && { suppressed: last.suppressed }
    this.#log[level]({ event, signal: signalOfLane(lane), ...others, scopes, lane, ...suppressed }, text)
  }
}
