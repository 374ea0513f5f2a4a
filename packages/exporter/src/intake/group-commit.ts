import { setImmediate } from 'node:timers/promises'
import { type Db, isUnavailable, QueueFullError } from '@penstock/db'
import type { Transaction } from 'kysely'
import type { ExportLimits } from '../options/export-limits.ts'

interface GroupCommitOptions<Item, Result, Tables> {
  readonly db: Db<Tables>
  /** Handles items in one transaction and returns their results in the same order. An error rolls all of them back. */
  readonly work: (tx: Transaction<Tables>, items: readonly Item[]) => Promise<readonly Result[]>
  /** Returns the size of an item in characters. */
  readonly sizeOf: (item: Item) => number
  readonly limits: Pick<ExportLimits, 'maxGroup' | 'maxGroupCharacters' | 'maxWaiting' | 'maxWaitingCharacters'>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly size: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Groups the items that arrive during a transaction into the next one, so that they share one commit and its wait for the
 * disk. If a group fails, each of its items gets a transaction of its own.
 */
export class GroupCommit<Item, Result, Tables> {
  readonly #options: GroupCommitOptions<Item, Result, Tables>
  #waiting: Waiting<Item, Result>[] = []
  #waitingCharacters = 0
  #isWriting = false

  constructor(options: GroupCommitOptions<Item, Result, Tables>) {
    this.#options = options
  }

  /**
   * Writes an item and returns its result.
   * @throws QueueFullError
   */
  add(item: Item): Promise<Result> {
    const { limits, sizeOf } = this.#options
    const size = sizeOf(item)
    const isFull =
      this.#waiting.length >= limits.maxWaiting || this.#waitingCharacters + size > limits.maxWaitingCharacters
    if (isFull && this.#waiting.length > 0) return Promise.reject(new QueueFullError())
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, size, resolve, reject })
      this.#waitingCharacters += size
      if (!this.#isWriting) void this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      // The event loop delivers requests one by one; after this turn, all that have arrived share the transaction.
      await setImmediate()
      await this.#writeGroup(() => this.#nextGroup())
    }
    this.#isWriting = false
  }

  #nextGroup(): Waiting<Item, Result>[] {
    const { maxGroup, maxGroupCharacters } = this.#options.limits
    let count = 0
    let characters = 0
    for (const { size } of this.#waiting) {
      if (count === maxGroup || (count > 0 && characters + size > maxGroupCharacters)) break
      count += 1
      characters += size
    }
    this.#waitingCharacters -= characters
    return this.#waiting.splice(0, count)
  }

  /** @param nextGroup called when the transaction begins, so that items which arrived while it waited are included */
  async #writeGroup(nextGroup: () => readonly Waiting<Item, Result>[]): Promise<void> {
    const { db, work } = this.#options
    let group: readonly Waiting<Item, Result>[] | undefined
    try {
      const results = await db.write((tx) => {
        group ??= nextGroup()
        return work(
          tx,
          group.map(({ item }) => item),
        )
      })
      for (const [index, { resolve }] of group!.entries()) resolve(results[index]!)
    } catch (error) {
      group ??= nextGroup()
      if (group.length === 1 || isUnavailable(error)) for (const { reject } of group) reject(error)
      else for (const one of group) await this.#writeGroup(() => [one])
    }
  }
}
