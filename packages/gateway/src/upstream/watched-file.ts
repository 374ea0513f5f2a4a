import { readFile, stat } from 'node:fs/promises'
import { ConfigError } from '../contract/config-error.ts'

/** How long a value is used before the file is checked again. */
const CHECK_INTERVAL_MS = 1_000
const MAX_FILE_BYTES = 1024 * 1024

export interface WatchOptions {
  readonly monotonicMs: () => number
  /**
   * Reports that a changed file could not be used; the previous value stays in use. `reason` never quotes the content.
   */
  readonly onError: (file: string, reason: string) => void
}

/**
 * A small file that is read again when it changes, also if it was replaced by a rename or a changed symbolic link.
 * Checks which file the path leads to and when it was changed, on `refresh` and at most once a second.
 */
export class WatchedFile<Value> {
  readonly #file: string
  readonly #parse: (text: string) => Value
  readonly #options: WatchOptions
  #value: Value
  #version: string
  #checkedAtMs: number
  #reloading: Promise<void> | undefined

  /** Reads the file. Throws the errors of reading it and of `parse`, which must not quote the text. */
  static async open<Value>(
    file: string,
    parse: (text: string) => Value,
    options: WatchOptions,
  ): Promise<WatchedFile<Value>> {
    const version = await versionOf(file)
    return new WatchedFile(file, parse, options, { value: parse(await readFile(file, 'utf8')), version })
  }

  private constructor(
    file: string,
    parse: (text: string) => Value,
    options: WatchOptions,
    first: { readonly value: Value; readonly version: string },
  ) {
    this.#file = file
    this.#parse = parse
    this.#options = options
    this.#value = first.value
    this.#version = first.version
    this.#checkedAtMs = options.monotonicMs()
  }

  get value(): Value {
    return this.#value
  }

  /**
   * Checks whether the file has changed, and if so, reads it. Returns `undefined` if the last check is recent. The
   * promise never rejects.
   */
  refresh(): Promise<void> | undefined {
    if (this.#reloading !== undefined) return this.#reloading
    const nowMs = this.#options.monotonicMs()
    if (nowMs - this.#checkedAtMs < CHECK_INTERVAL_MS) return undefined
    this.#checkedAtMs = nowMs
    this.#reloading = this.#reload()
    return this.#reloading
  }

  async #reload(): Promise<void> {
    try {
      const version = await versionOf(this.#file)
      if (version !== this.#version) {
        this.#value = this.#parse(await readFile(this.#file, 'utf8'))
        this.#version = version
      }
    } catch (error) {
      this.#options.onError(this.#file, error instanceof Error ? error.message : 'unreadable')
    } finally {
      this.#reloading = undefined
    }
  }
}

/** Identifies the state of a file. Call it before reading, so that a change in between is noticed at the next check. */
async function versionOf(file: string): Promise<string> {
  const { dev, ino, ctimeNs, mtimeNs, size } = await stat(file, { bigint: true })
  if (size > MAX_FILE_BYTES) throw new ConfigError(`${file} is larger than 1 MiB`)
  return `${dev} ${ino} ${ctimeNs} ${mtimeNs} ${size}`
}
