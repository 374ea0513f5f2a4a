import type { Clock } from '@penstock/runtime'
import type { FoundRecord } from './record-store.ts'

interface Entry extends FoundRecord {
  readonly untilMs: number
}

/**
 * How long a record is kept: its signals are sent at about the same time, and reading its body
 * costs as much as converting it.
 */
const KEPT_MS = 30_000

/** Caches recently read records, up to a total size of their JSON. */
export class RecordCache {
  readonly #entries = new Map<string, Entry>()
  readonly #clock: Clock
  readonly #maxCharacters: number
  #characters = 0

  constructor(clock: Clock, maxCharacters: number) {
    this.#clock = clock
    this.#maxCharacters = maxCharacters
  }

  find(key: string): FoundRecord | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && this.#clock.monotonicMs() < entry.untilMs ? entry : undefined
  }

  add(key: string, found: FoundRecord): void {
    this.#remove(key)
    this.#entries.set(key, { ...found, untilMs: this.#clock.monotonicMs() + KEPT_MS })
    this.#characters += found.characters
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= this.#maxCharacters) break
      this.#remove(oldest)
    }
  }

  #remove(key: string): void {
    this.#characters -= this.#entries.get(key)?.characters ?? 0
    this.#entries.delete(key)
  }
}
