import { readFile, stat } from 'node:fs/promises'
import { ConfigError } from '../config-error.ts'

/** How long what a file said counts before it is looked at again. */
const LOOK_EVERY_MS = 1_000
const MAX_FILE_BYTES = 1024 * 1024

export interface WatchOptions {
  readonly nowMs: () => number
  /** A changed file could not be used; what it said before goes on to count. Never told of the content. */
  readonly onError: (file: string, reason: string) => void
}

/**
 * A small file read again when it changes, also by rename or by a symbolic link put elsewhere: what counts is which
 * file the path leads to and when that was last changed, asked at most once a second and only while somebody asks.
 */
export class WatchedFile<Value> {
  readonly #file: string
  readonly #parse: (text: string) => Value
  readonly #options: WatchOptions
  #value: Value
  #seen: string
  #lookedAtMs: number
  #looking: Promise<void> | undefined

  /** Throws what reading throws, and what `parse` throws; `parse` must not quote the text. */
  static async open<Value>(
    file: string,
    parse: (text: string) => Value,
    options: WatchOptions,
  ): Promise<WatchedFile<Value>> {
    const seen = await versionOf(file)
    return new WatchedFile(file, parse, options, { value: parse(await readFile(file, 'utf8')), seen })
  }

  private constructor(
    file: string,
    parse: (text: string) => Value,
    options: WatchOptions,
    first: { readonly value: Value; readonly seen: string },
  ) {
    this.#file = file
    this.#parse = parse
    this.#options = options
    this.#value = first.value
    this.#seen = first.seen
    this.#lookedAtMs = options.nowMs()
  }

  get value(): Value {
    return this.#value
  }

  /** `undefined` while the value counts; otherwise a promise, never rejected, after which it does. */
  refreshed(): Promise<void> | undefined {
    if (this.#looking !== undefined) return this.#looking
    const nowMs = this.#options.nowMs()
    // A clock set back must not make the old value count for long.
    if (Math.abs(nowMs - this.#lookedAtMs) < LOOK_EVERY_MS) return undefined
    this.#lookedAtMs = nowMs
    this.#looking = this.#look()
    return this.#looking
  }

  async #look(): Promise<void> {
    try {
      const seen = await versionOf(this.#file)
      if (seen !== this.#seen) {
        this.#value = this.#parse(await readFile(this.#file, 'utf8'))
        this.#seen = seen
      }
    } catch (error) {
      this.#options.onError(this.#file, error instanceof Error ? error.message : 'unreadable')
    } finally {
      this.#looking = undefined
    }
  }
}

/** Asked before reading: a change in between is then seen as one more change, not missed. */
async function versionOf(file: string): Promise<string> {
  const { dev, ino, ctimeNs, mtimeNs, size } = await stat(file, { bigint: true })
  if (size > MAX_FILE_BYTES) throw new ConfigError(`${file} is larger than 1 MiB`)
  return `${dev} ${ino} ${ctimeNs} ${mtimeNs} ${size}`
}
