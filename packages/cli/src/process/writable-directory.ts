import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@penstock/runtime'
import { isSystemError, systemReason } from './system-error.ts'

const PROBE_FILE = 'readyz.probe'
/** Enough for a commit or a wiki page. A disk with less space is reported as full. */
const PROBE_BYTES = 256 * 1024
/** How long a result is reused, because anyone can request the readiness, and each check writes to the disk. */
const VALID_MS = 1_000

/** Finds out whether files can be written into a directory. */
export class WritableDirectory {
  readonly #file: string
  readonly #clock: Clock
  #checkedMs = Number.NEGATIVE_INFINITY
  #result: Promise<string | undefined> = Promise.resolve(undefined)

  constructor(directory: string, clock: Clock) {
    this.#file = join(directory, PROBE_FILE)
    this.#clock = clock
  }

  /** Returns the reason why nothing can be written, such as `no space left on device`; `undefined` if it can. */
  problem(): Promise<string | undefined> {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#checkedMs >= VALID_MS) {
      this.#checkedMs = nowMs
      this.#result = this.#probe()
    }
    return this.#result
  }

  async #probe(): Promise<string | undefined> {
    try {
      await writeFile(this.#file, Buffer.alloc(PROBE_BYTES))
      return undefined
    } catch (error) {
      if (!isSystemError(error)) throw error
      return systemReason(error)
    } finally {
      await rm(this.#file, { force: true }).catch(() => {})
    }
  }
}
