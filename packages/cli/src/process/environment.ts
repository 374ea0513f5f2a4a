import type { Readable, Writable } from 'node:stream'
import type { Clock, Random } from '@penstock/runtime'
import type { Installation } from './installation.ts'

/** The process as a command sees it. */
export interface Environment {
  readonly stdin: Readable
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the user stops the command. The reason is then `Interrupted`. */
  readonly signal: AbortSignal
  /** The directory with the pipelines of `show --sample`. */
  readonly samplesDirectory: string
  readonly installation: Installation
}

/** An output stream. A terminal has `isTTY` and its width in columns. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined }

export const exitCodes = {
  ok: 0,
  /** A record was refused, a request was not accepted, or the output could not be written. */
  incomplete: 1,
  /** An argument or a flag is invalid; the command has not done anything. */
  usage: 2,
  /** The exit code of shells for a process that SIGINT ended. */
  interrupted: 130,
} as const

/** The error for invalid arguments, flags or settings. The message has one line per problem. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly lines: readonly string[]

  constructor(...lines: readonly [string, ...string[]]) {
    super(lines.join('; '))
    this.lines = lines
  }
}

/** The error for output that cannot be written. The message is one line. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
}

/** The error for output that the reader has closed, as `head` does. It is not a failure, but the command stops. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed'
}

/** The reason with which `Environment.signal` aborts. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly by: 'SIGINT' | 'SIGTERM'

  constructor(by: 'SIGINT' | 'SIGTERM') {
    super(`stopped by ${by}`)
    this.by = by
  }
}
