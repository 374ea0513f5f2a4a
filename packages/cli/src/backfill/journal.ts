import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type FileLock, isUnavailable, lockFile } from '@penstock/db'
import { type Downstream, isObject } from '@penstock/forges'
import { type Signal, signalNames } from '@penstock/otlp'
import { OutputError, UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'

/** The identity of a backfill. A journal must only be continued by a backfill with the same subject. */
export interface JournalSubject {
  /** The base URL of the forge's API. */
  readonly from: string
  /** The id of the project, or its name for forges with an API that has names only. */
  readonly project: string
  /** The base URL of the receiver. */
  readonly endpoint: string
}

type Entry =
  | { readonly id: string; readonly signal: Signal }
  | { readonly id: string; readonly downstream: readonly Downstream[] }

/** The name and version of the file format. */
const format = 'penstock backfill 1'
/** The size limit of a journal: about three million pipelines. */
const MAX_BYTES = 400_000_000

/**
 * A file that records which pipelines of a project a receiver has accepted: a line for the subject, then one line per
 * pipeline and signal. Incomplete lines are ignored, so a process may end at any moment. After a power failure the last
 * lines may be missing; their signals are then sent again. One process uses a journal at a time, with a lock on the file
 * `<name>.lock`.
 *
 *     {"format":"penstock backfill 1","from":"https://forge.example/api/v4","project":"17","endpoint":"https://otlp.example"}
 *     {"id":"31","downstream":[{"id":"32","projectId":"17","bridgeId":"380"}]}
 *     {"id":"31","signal":"traces"}
 */
export class Journal {
  readonly #path: string
  readonly #file: number
  readonly #release: () => void
  readonly #accepted = new Map<string, Set<Signal>>()
  readonly #downstream = new Map<string, readonly Downstream[]>()

  /** @throws {UsageError} if the file cannot be used, is in use, has another format or another subject */
  static open(path: string, subject: JournalSubject): Journal {
    try {
      validateFileType(path)
      const lock = acquireLock(path)
      try {
        return new Journal(path, subject, lock.release)
      } catch (error) {
        lock.release()
        throw error
      }
    } catch (error) {
      if (!isSystemError(error)) throw error
      throw new UsageError(`cannot use ${path}: ${systemReason(error)}`)
    }
  }

  private constructor(path: string, subject: JournalSubject, release: () => void) {
    this.#path = path
    this.#release = release
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const header = headerOf(subject)
    const isNew = !text.includes('\n') && header.startsWith(text)
    if (!isNew) validateHeader(path, text, subject)
    const end = isNew ? 0 : this.#read(text)
    this.#file = openSync(path, 'a', 0o600)
    if (end < Buffer.byteLength(text)) truncateSync(path, end)
    if (isNew) this.#write(header)
  }

  get path(): string {
    return this.#path
  }

  /** Returns the signals of a run that have not been accepted yet. An attempt has an id of its own, such as `31/2`. */
  missing(id: string, signals: readonly Signal[]): readonly Signal[] {
    const accepted = this.#accepted.get(id)
    return accepted === undefined ? signals : signals.filter((signal) => !accepted.has(signal))
  }

  /** Returns the downstream pipelines of each pipeline that has been read. */
  get downstream(): ReadonlyMap<string, readonly Downstream[]> {
    return this.#downstream
  }

  /** @throws {OutputError} */
  accept(id: string, signal: Signal): void {
    this.#append({ id, signal })
  }

  /** @throws {OutputError} */
  learn(id: string, downstream: readonly Downstream[]): void {
    const known = this.#downstream.get(id)
    if (downstream.length === 0 || JSON.stringify(known) === JSON.stringify(downstream)) return
    this.#append({ id, downstream })
  }

  close(): void {
    fsyncSync(this.#file)
    closeSync(this.#file)
    this.#release()
  }

  #append(entry: Entry): void {
    this.#take(entry)
    this.#write(`${JSON.stringify(entry)}\n`)
  }

  #take(entry: Entry): void {
    if ('downstream' in entry) {
      this.#downstream.set(entry.id, entry.downstream)
      return
    }
    const accepted = this.#accepted.get(entry.id) ?? new Set()
    this.#accepted.set(entry.id, accepted.add(entry.signal))
  }

  /** Writes a line synchronously, so that nothing can happen between the acceptance and its record. */
  #write(line: string): void {
    try {
      writeSync(this.#file, line)
    } catch (error) {
      if (!isSystemError(error)) throw error
      throw new OutputError(`cannot write ${this.#path}: ${systemReason(error)}`)
    }
  }

  /** @returns the length in bytes of the complete lines; the rest was left by a process that was killed */
  #read(text: string): number {
    let start = text.indexOf('\n') + 1
    for (let end = text.indexOf('\n', start); end >= 0; end = text.indexOf('\n', start)) {
      const entry = entryOf(text.slice(start, end))
      if (entry === undefined) break
      this.#take(entry)
      start = end + 1
    }
    return Buffer.byteLength(text.slice(0, start))
  }
}

function headerOf({ from, project, endpoint }: JournalSubject): string {
  return `${JSON.stringify({ format, from, project, endpoint })}\n`
}

function validateHeader(path: string, text: string, subject: JournalSubject): void {
  const header = parsed(text.slice(0, text.indexOf('\n')))
  if (header?.format !== format) throw new UsageError(`${path} is not a state file of penstock backfill`)
  for (const key of ['from', 'project', 'endpoint'] as const) {
    if (header[key] === subject[key]) continue
    throw new UsageError(
      `${path} belongs to another backfill: its ${key} is ${String(header[key])}, not ${subject[key]}`,
    )
  }
}

function entryOf(line: string): Entry | undefined {
  const entry = parsed(line)
  if (typeof entry?.id !== 'string') return undefined
  if ((signalNames as unknown[]).includes(entry.signal)) return { id: entry.id, signal: entry.signal as Signal }
  const { downstream } = entry
  return Array.isArray(downstream) && downstream.every(isDownstream) ? { id: entry.id, downstream } : undefined
}

const isDownstream = (value: unknown): value is Downstream =>
  isObject(value) && [value.id, value.projectId, value.bridgeId].every((id) => /^\d+$/.test(String(id)))

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function validateFileType(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || (stats.isFile() && stats.size <= MAX_BYTES)) return
  throw new UsageError(`${path} is not a state file of penstock backfill`)
}

function acquireLock(path: string): Extract<FileLock, { kind: 'acquired' }> {
  // The real path is the same for every name of the file.
  const file = existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
  const lock = lockOn(`${file}.lock`)
  if (lock.kind === 'acquired') return lock
  const holder = lock.processId === undefined ? '' : ` (process ${lock.processId})`
  throw new UsageError(
    `another penstock backfill${holder} is using ${path}: wait for its end or stop it, then run the same command again`,
  )
}

function lockOn(file: string): FileLock {
  try {
    return lockFile(file)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    throw new UsageError(`cannot use ${file}: ${(error as Error).message}`)
  }
}
