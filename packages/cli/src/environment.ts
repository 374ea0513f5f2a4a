import type { Readable, Writable } from 'node:stream'
import type { Clock, Random } from '@penstock/runtime'

/** All that a command may know of the process it runs in. */
export interface Environment {
  readonly stdin: Readable
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the user wants to stop; the reason is then `Interrupted`. */
  readonly signal: AbortSignal
  /** Where `show --sample` finds its pipelines. */
  readonly samplesDirectory: string
}

/** A terminal says so, and how wide it is. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined }

export const exitCodes = {
  ok: 0,
  /** A record was refused, something was not accepted, or the output could not be written. */
  incomplete: 1,
  /** What was typed cannot work; nothing has been done. */
  usage: 2,
  /** What shells say of a process that SIGINT ended. */
  interrupted: 130,
} as const

/** What was typed cannot work. A line for each problem, for the person who typed it; one as a rule. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly lines: readonly string[]

  constructor(...lines: readonly [string, ...string[]]) {
    super(lines.join('; '))
    this.lines = lines
  }
}

/** Something that was made could not be written. The message is one line for the person who waits for it. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
}

/** Whoever read our output has stopped, as `head` does; no failure, but no reason to go on either. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed'
}

/** Why `Environment.signal` has aborted. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly by: 'SIGINT' | 'SIGTERM'

  constructor(by: 'SIGINT' | 'SIGTERM') {
    super(`stopped by ${by}`)
    this.by = by
  }
}
