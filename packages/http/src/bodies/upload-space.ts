import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const DEFAULT_MAX_BYTES = 1024 * 1024 * 1024
const RETRY_AFTER_SECONDS = 10
/** Older files are removed, because their processes ended during the upload. No upload takes this long. */
const STALE_MS = 24 * 60 * 60 * 1_000

/** The error for an upload that would exceed the limit for all simultaneous uploads of the process. */
export class TooManyUploads extends Error {
  override readonly name = 'TooManyUploads'
  readonly retryAfterSeconds = RETRY_AFTER_SECONDS
}

/** The directory of the files that are being uploaded, with a limit for all of them together. */
export class UploadSpace {
  readonly #directory: string
  readonly #maxBytes: number
  #usedBytes = 0
  #ready: Promise<unknown> | undefined

  /** @param maxBytes the maximum size of all simultaneous uploads of this process together */
  constructor(directory: string, maxBytes = DEFAULT_MAX_BYTES) {
    this.#directory = directory
    this.#maxBytes = maxBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  /** Returns the path of a new file. The first call creates the directory, and removes old files in it. */
  async newPath(): Promise<string> {
    this.#ready ??= this.#prepare()
    try {
      await this.#ready
    } catch (error) {
      // The next upload tries again.
      this.#ready = undefined
      throw error
    }
    return join(this.#directory, randomUUID())
  }

  /** @throws TooManyUploads */
  reserve(bytes: number): void {
    if (this.#usedBytes + bytes > this.#maxBytes) throw new TooManyUploads()
    this.#usedBytes += bytes
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes
  }

  async #prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name)
      const found = await stat(path).catch(() => undefined)
      if (found !== undefined && Date.now() - found.mtimeMs > STALE_MS) await rm(path, { force: true })
    }
  }
}
